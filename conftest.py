"""For tests beside the code: what needs an extra that is not here is left out."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/vicinal/torch/*"]
