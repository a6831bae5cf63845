"""Random programs of public calls over a stand-in, held against a model: the machine, the model, the search."""
