"""For tests beside the code: what needs an extra that is not here is left out."""

from importlib.util import find_spec

HAS_TORCH = all(find_spec(name) for name in ("torch", "array_api_compat"))
collect_ignore_glob = [] if HAS_TORCH else ["src/vicinal/torch/*"]
