"""The OpenAPI document of a server, from the models that check its requests."""

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from .body import Failure, Health, Predicted, Prediction
from .service import Service

PLACE = "#/components/schemas/{model}"
REFUSALS = {
    400: "The body is no JSON.",
    408: "The body did not come in time.",
    413: "The body, the number of inputs or all inputs are too large.",
    415: "The content type is not application/json.",
    422: "The request is wrong, or none of its inputs has an answer.",
    500: "The search failed.",
    503: "Too many inputs wait; try again after `Retry-After` seconds.",
    504: "There was no answer in time.",
}
OF_INPUTS = (413, 422, 500)
"""The refusals that may be those of all inputs, each with its `error`."""


def document(service: Service) -> dict[str, Any]:
    """What can be asked, and what is answered."""
    _, schemas = models_json_schema(
        [(Prediction, "validation"), *((one, "serialization") for one in ANSWERS)],
        ref_template=PLACE,
    )
    about = {
        "title": f"beamlearn: {service.model.name}",
        "version": service.version,
        "description": f"Predictions of the task `{service.model.task.name}`.",
    }
    predict = {
        "summary": "Answer some inputs.",
        "requestBody": {"required": True, "content": content(Prediction)},
        "responses": {
            "200": answer("At least one input has an answer.", Predicted),
            **{str(status): refusal(status) for status in REFUSALS},
        },
    }
    health = {
        "summary": "Is the server well?",
        "responses": {
            "200": answer("It takes requests.", Health),
            "503": answer("It is about to end.", Health),
        },
    }
    metrics = {
        "summary": "What the server has done so far.",
        "responses": {"200": {"description": "The text format of Prometheus."}},
    }
    return {
        "openapi": "3.1.0",
        "info": about,
        "paths": {
            "/predict": {"post": predict},
            "/health": {"get": health},
            "/metrics": {"get": metrics},
        },
        "components": {"schemas": schemas["$defs"]},
    }


ANSWERS: tuple[type[BaseModel], ...] = (Predicted, Failure, Health)


def refusal(status: int) -> dict[str, Any]:
    """The answer of a status that is no success."""
    kinds = (Failure, Predicted) if status in OF_INPUTS else (Failure,)
    return answer(REFUSALS[status], *kinds)


def content(*models: type[BaseModel]) -> dict[str, Any]:
    """JSON of a kind, or of one of several."""
    kinds = [{"$ref": PLACE.format(model=model.__name__)} for model in models]
    return {"application/json": {"schema": kinds[0] if len(kinds) == 1 else {"anyOf": kinds}}}


def answer(description: str, *models: type[BaseModel]) -> dict[str, Any]:
    """A possible answer."""
    return {"description": description, "content": content(*models)}
