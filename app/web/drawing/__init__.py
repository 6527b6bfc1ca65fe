"""The drawing of any game's table as HTML and SVG."""
