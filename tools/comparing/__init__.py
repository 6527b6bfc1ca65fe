"""Two games side by side: rules, settings, mechanics, and the differences of their figures."""
