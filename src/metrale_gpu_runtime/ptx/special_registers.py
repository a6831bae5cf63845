"""The predefined registers of PTX (PTX ISA, "Special Registers")."""

from __future__ import annotations

# Four components each; without one, the name stands for all four.
VECTORS = frozenset(
    {
        "%tid", "%ntid", "%ctaid", "%nctaid",
        "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
    }
)  # fmt: skip
COMPONENTS = ("x", "y", "z", "w")

SCALARS = frozenset(
    {
        "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid",
        "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
        "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi",
        "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size",
        "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
        "%reserved_smem_offset_0", "%reserved_smem_offset_1", "%reserved_smem_offset_2",
        "%current_graph_exec", "%is_explicit_cluster", "%cluster_ctarank", "%cluster_nctarank",
        *(f"%pm{n}" for n in range(8)), *(f"%pm{n}_64" for n in range(8)),
        *(f"%envreg{n}" for n in range(32)),
    }
)  # fmt: skip
