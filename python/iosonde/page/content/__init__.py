"""Content of a page, as types: ``commands/*/for_page.py`` compute it, ``commands/*/section.py`` lay it out."""
