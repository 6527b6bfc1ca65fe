"""The four roles asked of a chat model, through any OpenAI-compatible endpoint."""

from agents.model.chat import ChatModel
from agents.protocols import RoleSet
from agents.roles.coder import ModelCoder
from agents.roles.designer import ModelDesigner
from agents.roles.strategist import ModelStrategist
from agents.roles.validator import ModelValidator

__all__ = ["ModelCoder", "ModelDesigner", "ModelStrategist", "ModelValidator", "model_roles"]


def model_roles(model: ChatModel) -> RoleSet:
    """The four roles over one chat model and its budget."""
    designer, coder = ModelDesigner(model.of_role("designer")), ModelCoder(model.of_role("coder"))
    return RoleSet(
        identity=model.identity,
        designer=designer,
        referee=designer,
        coder=coder,
        extender=coder,
        validator=ModelValidator(model.of_role("validator")),
        strategist=ModelStrategist(model.of_role("strategist")),
    )
