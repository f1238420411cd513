"""A client that is not grpc-java: grpcio (the C core), with messages built from the published descriptors."""

import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

target, token, descriptors = sys.argv[1:4]
files = descriptor_pb2.FileDescriptorSet()
with open(descriptors, "rb") as file:
    files.ParseFromString(file.read())
pool = descriptor_pool.DescriptorPool()
for file in files.file:
    pool.Add(file)
factory = message_factory.MessageFactory(pool)


def message(name):
    return factory.GetPrototype(pool.FindMessageTypeByName(name))


def told(status):
    trailers = {m.key: m.value for m in status.trailing_metadata()}
    return {"status": status.code().name, "code": trailers.get("writ-code")}


Request = message("writ.tools.v1.ExecRequest")
example = Request(
    role="developer",
    case_id="case-123",
    subtask_id="DEV-123",
    cmd="pytest -q",
    cwd="/workspace/repo",
    timeout_sec=60,
    env={"PYTHONUNBUFFERED": "1"},
    limits={"cpu": 1.0, "mem_mb": 512},
)
credential = (("authorization", "Bearer " + token),)
out = {}
with grpc.insecure_channel(target) as channel:
    health = channel.unary_unary(
        "/grpc.health.v1.Health/Check",
        request_serializer=message("grpc.health.v1.HealthCheckRequest").SerializeToString,
        response_deserializer=message("grpc.health.v1.HealthCheckResponse").FromString,
    )
    out["health"] = health(message("grpc.health.v1.HealthCheckRequest")()).status
    reflect = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=message("grpc.reflection.v1.ServerReflectionRequest").SerializeToString,
        response_deserializer=message("grpc.reflection.v1.ServerReflectionResponse").FromString,
    )
    asked = message("grpc.reflection.v1.ServerReflectionRequest")(
        file_containing_symbol="writ.tools.v1.ToolGateway"
    )
    for answer in reflect(iter([asked])):
        found = descriptor_pb2.FileDescriptorProto()
        found.ParseFromString(answer.file_descriptor_response.file_descriptor_proto[0])
        out["reflected"] = [m.name for m in found.service[0].method]
    execute = channel.unary_unary(
        "/writ.tools.v1.ToolGateway/Exec",
        request_serializer=Request.SerializeToString,
        response_deserializer=message("writ.tools.v1.ExecResponse").FromString,
    )
    response, call = execute.with_call(example, metadata=credential)
    out["response"] = {
        "exit_code": response.exit_code,
        "stdout_tail": response.stdout_tail,
        "logged_to": response.logged_to,
        "artifacts": [[a.type, a.path] for a in response.artifacts],
    }
    out["exec_id"] = response.exec_id
    out["receipt"] = {m.key: m.value for m in call.trailing_metadata()}["writ-receipt"]
    for name, request, metadata in (
        ("denied", Request(role="developer", case_id="case-123", cmd="kubectl"), credential),
        ("unknown", example, (("authorization", "Bearer other"),)),
        ("anonymous", example, ()),
    ):
        try:
            execute(request, metadata=metadata)
        except grpc.RpcError as e:
            out[name] = told(e)
    events = channel.unary_stream(
        "/writ.tools.v1.ToolGateway/Events",
        request_serializer=message("writ.tools.v1.EventsRequest").SerializeToString,
        response_deserializer=message("writ.tools.v1.ExecEvent").FromString,
    )
    Events = message("writ.tools.v1.EventsRequest")
    out["events"] = [
        [e.event, e.exec_id, e.rc, e.stderr_tail]
        for e in events(Events(follow=False), metadata=credential)
    ]
print(json.dumps(out))
