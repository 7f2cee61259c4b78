"""Every question as a Python function: the same words as on the command line, the same answers.

``words`` is what the functions take, ``result`` what they give; the functions lie in the groups of ``iosonde --help``:
``measuring``, ``believe``, ``understand``, ``decide``, ``sharing``. The package's root names them all, and imports the
module of one when it is called.
"""
