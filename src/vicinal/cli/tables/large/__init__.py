"""Tables larger than memory, read in parts as often as need be: each part is a `Table`.

kinds: text, files of Arrow, arrays → table
table → sweep: numbers of one part after the other → rows, which a model is given
results → cli.tables.parts
"""
