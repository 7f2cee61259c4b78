"""What a page holds, as types: computed in ``answers/page``, laid out by ``report/page``."""
