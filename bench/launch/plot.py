"""The launch figures as one drawing: a line for each way to launch, a dot for each number of arguments, log scale."""

from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import escape

ROW, LEFT, WIDTH, TOP = 20, 510, 560, 64
LEAST = 0.5
TITLE = "Host time of a launch, in floors: a C loop that calls cuLaunchKernel is 1"
COLOURS = {3: "#0b6e99", 8: "#c4620d", 16: "#6b3fa0"}
OURS, OTHERS = "#e8f1f6", "#ffffff"


def draw(figures: dict[str, Any]) -> str:
    """An SVG document of what was measured over the CUDA stand-in, sorted by cost; the switches are left out."""
    counts = figures["arguments"]
    lines = []
    for each in figures["contenders"]:
        if each["group"] not in ("ours", "peer"):
            continue
        by_name: dict[str, dict[int, float]] = {}
        for row in each["rows"]:
            by_name.setdefault(row["name"], {})[row["arguments"]] = row["ratio"]
        title = each["title"].split(",")[0] if each["group"] == "peer" else each["title"]
        lines += [(each["group"] == "ours", f"{title}: {name}", ratios) for name, ratios in by_name.items()]
    lines.sort(key=lambda line: min(line[2].values()))
    most = max((max(ratios.values()) for _, _, ratios in lines), default=10)
    decades = range(math.ceil(math.log10(most)) + 1)
    scale = WIDTH / (decades[-1] - math.log10(LEAST))

    def x(ratio: float) -> float:
        return LEFT + (math.log10(max(ratio, LEAST)) - math.log10(LEAST)) * scale

    bottom = TOP + ROW * len(lines)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 30} {bottom + 34}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{LEFT + WIDTH + 30}" height="{bottom + 34}" fill="#ffffff"/>',
        f'<text x="10" y="22" font-size="15">{TITLE}</text>',
    ]
    for at, count in enumerate(counts):
        out.append(f'<circle cx="{LEFT + 110 * at}" cy="42" r="4.5" fill="{COLOURS[count]}"/>')
        out.append(f'<text x="{LEFT + 110 * at + 9}" y="46">{count} arguments</text>')
    for at, (is_ours, _, _) in enumerate(lines):
        if is_ours:
            out.append(f'<rect x="0" y="{TOP + ROW * at}" width="{LEFT + WIDTH + 30}" height="{ROW}" fill="{OURS}"/>')
    for decade in decades:
        at = x(10**decade)
        out.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{bottom}" stroke="#bbbbbb"/>')
        out.append(f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{10**decade:,}x</text>')
    for at, (_, title, ratios) in enumerate(lines):
        middle = TOP + ROW * at + ROW / 2
        out.append(f'<text x="{LEFT - 10}" y="{middle + 4}" text-anchor="end">{escape(title)}</text>')
        out += [
            f'<circle cx="{x(ratio):.1f}" cy="{middle}" r="4.5" fill="{COLOURS[count]}"/>'
            for count, ratio in ratios.items()
        ]
    return "\n".join([*out, "</svg>", ""])
