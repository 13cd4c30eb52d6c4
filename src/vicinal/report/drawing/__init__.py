"""How displays draw: axes, colors, classes, names of users, planes, and what stands around them."""
