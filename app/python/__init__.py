"""The face for Python and notebooks; `import rulewright` gives its functions."""
