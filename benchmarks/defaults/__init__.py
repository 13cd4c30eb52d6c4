"""NeighborhoodComponents with nothing said beside what users would pick instead."""
