// One operation of this tool: the worker side of the protocol in spec/tool-package.md. What the tool prints
// goes to standard error.
using System.Buffers.Binary;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;

using Stream input = Console.OpenStandardInput(), output = Console.OpenStandardOutput();
Console.SetOut(Console.Error);

void Write(JsonObject frame)
{
    byte[] body = Encoding.UTF8.GetBytes(frame.ToJsonString(new JsonSerializerOptions { MaxDepth = 256 }));
    byte[] head = new byte[4];
    BinaryPrimitives.WriteInt32BigEndian(head, body.Length);
    output.Write(head);
    output.Write(body);
    output.Flush();
}

Write(new JsonObject { ["protocol"] = 1, ["kind"] = "ready" });
byte[] length = new byte[4];
input.ReadExactly(length);
byte[] bytes = new byte[BinaryPrimitives.ReadInt32BigEndian(length)];
input.ReadExactly(bytes);
JsonObject call = JsonNode.Parse(bytes, null, new JsonDocumentOptions { MaxDepth = 256 })!.AsObject();
try
{
    JsonNode? result = (string)call["operation"]! switch
    {
        "count" => Tool.Count(call["input"]!.AsObject(), call["context"]!.AsObject()),
        var other => throw new ArgumentException($"there is no operation {other}"),
    };
    Write(new JsonObject { ["protocol"] = 1, ["kind"] = "result", ["output"] = result });
}
catch (Exception e)
{
    Console.Error.WriteLine(e);
    Write(new JsonObject
    {
        ["protocol"] = 1, ["kind"] = "incident", ["incident"] = "Failed",
        ["message"] = e.Message[..Math.Min(500, e.Message.Length)],
    });
}
