"""The part of ONNX's messages that is needed to read weights out of a model and to write a graph of
operators.

Of onnx.proto3 of ONNX IR version 9, by Google's protobuf, which onnxruntime brings along; the
package `onnx` is large.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FLOAT = 1
UINT8 = 2
INT8 = 3
INT64 = 7
"""Values of TensorProto.DataType."""
_FLOAT = 1
_INT = 2
_INTS = 7
"""Values of AttributeProto.AttributeType."""

_PACKAGE = "lightstream_onnx"
_KINDS = descriptor_pb2.FieldDescriptorProto
_PLAIN = {
    "int64": _KINDS.TYPE_INT64,
    "int32": _KINDS.TYPE_INT32,
    "float": _KINDS.TYPE_FLOAT,
    "bytes": _KINDS.TYPE_BYTES,
    "string": _KINDS.TYPE_STRING,
}
_MESSAGES: Mapping[str, Mapping[str, tuple[int, str]]] = {
    "Tensor": {
        "dims": (1, "*int64"),
        "data_type": (2, "int32"),
        "float_data": (4, "*float"),
        "int32_data": (5, "*int32"),
        "name": (8, "string"),
        "raw_data": (9, "bytes"),
    },
    "Attribute": {
        "name": (1, "string"),
        "f": (2, "float"),
        "i": (3, "int64"),
        "ints": (8, "*int64"),
        "type": (20, "int32"),
    },
    "Node": {
        "input": (1, "*string"),
        "output": (2, "*string"),
        "name": (3, "string"),
        "op_type": (4, "string"),
        "attribute": (5, "*Attribute"),
        "domain": (7, "string"),
    },
    "Dimension": {"dim_value": (1, "int64"), "dim_param": (2, "string")},
    "Shape": {"dim": (1, "*Dimension")},
    "TensorType": {"elem_type": (1, "int32"), "shape": (2, "Shape")},
    "Type": {"tensor_type": (1, "TensorType")},
    "Value": {"name": (1, "string"), "type": (2, "Type")},
    "Graph": {
        "node": (1, "*Node"),
        "name": (2, "string"),
        "initializer": (5, "*Tensor"),
        "input": (11, "*Value"),
        "output": (12, "*Value"),
    },
    "OperatorSet": {"domain": (1, "string"), "version": (2, "int64")},
    "Model": {
        "ir_version": (1, "int64"),
        "graph": (7, "Graph"),
        "opset_import": (8, "*OperatorSet"),
    },
}
"""Fields by message: number and type, `*` for a repeated one. Fields that are not listed are
skipped.
"""


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{_PACKAGE}.proto", package=_PACKAGE, syntax="proto2"
    )
    for message, fields in _MESSAGES.items():
        message_type = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            is_repeated = kind.startswith("*")
            kind_name = kind.removeprefix("*")
            label = _KINDS.LABEL_REPEATED if is_repeated else _KINDS.LABEL_OPTIONAL
            field = message_type.field.add(name=name, number=number, label=label)
            if kind_name in _PLAIN:
                field.type = _PLAIN[kind_name]
            else:
                field.type, field.type_name = _KINDS.TYPE_MESSAGE, f".{_PACKAGE}.{kind_name}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))
        for name in _MESSAGES
    }


_CLASS = _classes()


def model() -> Any:
    """Return an empty ModelProto."""
    return _CLASS["Model"]()


def parsed(content: bytes) -> Any:
    """Return the ModelProto of these bytes."""
    return _CLASS["Model"].FromString(content)


def set_attribute(node: Any, name: str, value: float | int) -> None:
    """Give the NodeProto an attribute."""
    kind = "f" if isinstance(value, float) else "i"
    node.attribute.add(name=name, type=_FLOAT if kind == "f" else _INT, **{kind: value})
