"""The four roles without a language model: the embedded default."""

from agents.composer.coder import ComposerCoder
from agents.composer.designer import ComposerDesigner
from agents.composer.strategist import ComposerStrategist
from agents.composer.validator import ComposerValidator
from agents.protocols import RoleSet

__all__ = ["composer_roles"]


def composer_roles() -> RoleSet:
    """The composer's roles; their identity is "composer", never a model's name."""
    return RoleSet(
        identity="composer",
        designer=ComposerDesigner(),
        coder=ComposerCoder(),
        validator=ComposerValidator(),
        strategist=ComposerStrategist(),
    )
