using System.Text.Json.Nodes;

internal static class Tool
{
    internal static JsonNode Count(JsonObject input, JsonObject context)
    {
        string text = (string)input["text"]!;
        return new JsonObject
        {
            ["lines"] = text.Count(c => c == '\n'),
            ["words"] = text.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries).Length,
            ["characters"] = text.EnumerateRunes().Count(),
        };
    }
}
