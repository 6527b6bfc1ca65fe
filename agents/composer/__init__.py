"""The four roles without a language model: the embedded default."""

from agents.composer.coder import ComposerCoder, ComposerStrategist, verified_source
from agents.composer.designer import ComposerDesigner
from agents.composer.meaning.statements import Embed
from agents.composer.validator import ComposerValidator
from agents.protocols import COMPOSER, RoleSet

__all__ = ["composer_roles"]


def composer_roles(embed: Embed | None = None) -> RoleSet:
    """The composer's roles; their identity is "composer", never a model's name.

    Args:
        embed: Texts to MiniLM's vectors; None for a judgement by words alone.
    """
    return RoleSet(
        identity=COMPOSER,
        designer=ComposerDesigner(embed),
        coder=ComposerCoder(),
        validator=ComposerValidator(),
        strategist=ComposerStrategist(),
        verified=verified_source,
    )
