"""How displays draw: axes, colors, points and their classes, names, and what stands around them."""
