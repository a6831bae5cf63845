"""The conformance suite: every law of the design as a case that any backend can be put through.

```python
@pytest.mark.parametrize("case", cases(), ids=str)
def test_conformance(case):
    if reason := case.run(MyTarget()):
        pytest.skip(reason)
```
"""

from __future__ import annotations

from .case import ConformanceCase, cases
from .target import KERNELS, ConformanceTarget

__all__ = ["KERNELS", "ConformanceCase", "ConformanceTarget", "cases"]
