"""The two ways in which a known data set can fail to load."""


class DatasetUnavailable(OSError):  # noqa: N818  (its base says it is an error)
    """A known data set was not found in any of the places that may be searched.

    Examples
    --------
    >>> from vicinal import datasets
    >>> try:
    ...     iris = datasets.load("iris")
    ... except datasets.DatasetUnavailable as error:
    ...     print(error)  # where it was looked for, and how to get it
    """


class DatasetMismatch(ValueError):  # noqa: N818
    """A copy of a data set was found, but it is not the reference copy.

    Examples
    --------
    >>> from vicinal import datasets
    >>> try:
    ...     iris = datasets.load("iris")
    ... except datasets.DatasetMismatch as error:
    ...     print(error)  # which copy, and what differs
    """
