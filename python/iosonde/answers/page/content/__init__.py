"""Content of a page, as types: computed in ``answers/page``, laid out by ``report/page``."""
