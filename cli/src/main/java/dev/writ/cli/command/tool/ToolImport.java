package dev.writ.cli.command.tool;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import dev.writ.tools.author.ToolLock;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.openapi.OpenApiImport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** {@code writ tool import}: a project from a description of something that exists. */
final class ToolImport implements CliCommand {
  private static final int BYTES_MAX = 16 << 20;

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "import",
            "Make a tool of an HTTP API, from its OpenAPI document.",
            "An MCP server needs no project: it becomes a tool by `writ mcp add NAME -- COMMAND`.")
        .argument("FILE", "An OpenAPI document of 3.0 or 3.1, YAML or JSON; nothing is fetched.")
        .options("--only", "TAG,operationId", "Take these operations alone.")
        .option("--name", "NAME", "The tool's name; made of the title if it is left out.")
        .option("--server", "URL", "The server, in the place of the document's.")
        .option("-o", "FOLDER", "The new project's folder; the tool's name if it is left out.");
  }

  record Made(OpenApiImport.Imported imported, Path folder) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("folder", folder.toString())
          .put("tool", imported.tool())
          .putList("operations", imported.operations(), JsonValue::of)
          .putList("notes", imported.notes(), JsonValue::of)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Path file = Path.of(arguments.argument("FILE"));
    byte[] bytes = read(file);
    // What the file is decides what is made of it; today there is one kind.
    if (!OpenApiImport.isMeant(bytes)) {
      throw new WritException(
          ToolsError.OPENAPI_VERSION,
          file + " has no `openapi: 3.…`; an MCP server becomes a tool by `writ mcp add`");
    }
    List<String> only = new ArrayList<>();
    arguments.options("--only").forEach(words -> only.addAll(List.of(words.split(","))));
    OpenApiImport.Imported imported =
        OpenApiImport.of(
            bytes,
            file.getFileName().toString(),
            new OpenApiImport.Wanted(
                arguments.option("--name"), only, arguments.option("--server")));
    TreeMap<String, byte[]> files = new TreeMap<>();
    files.put(ToolSource.FILE, imported.manifest());
    files.put(ToolLock.FILE, new ToolLock(List.of()).toBytes());
    ToolProject.of(files); // refuses what registration could not read
    Path folder = Path.of(arguments.option("-o").orElse(imported.tool()));
    write(folder, files);
    session.show(new Made(imported, folder), ToolImport::print);
    return ExitCode.OK;
  }

  private static byte[] read(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(BYTES_MAX + 1);
      if (bytes.length > BYTES_MAX) {
        throw new WritException(
            ToolsError.OPENAPI_SYNTAX, file + " has more than " + BYTES_MAX + " bytes");
      }
      return bytes;
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, file.toString(), e);
    }
  }

  private static void write(Path folder, TreeMap<String, byte[]> files) {
    if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
      throw new WritException(ToolsError.PROJECT_EXISTS, folder.toString());
    }
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, folder.toString(), e);
    }
    files.forEach((name, content) -> Workbench.write(folder.resolve(name), content));
  }

  private static void print(Made made, Terminal terminal) {
    OpenApiImport.Imported imported = made.imported();
    imported.notes().forEach(note -> terminal.err().println(note));
    terminal
        .out()
        .println(
            "Made "
                + made.folder()
                + " with "
                + imported.operations().size()
                + (imported.operations().size() == 1 ? " operation. " : " operations. ")
                + "Read its "
                + ToolSource.FILE
                + ", then try:");
    String writ = Homes.name() + " tool ";
    terminal.out().println("  " + writ + "lint " + made.folder());
    terminal.out().println("  " + writ + "package " + made.folder());
  }
}
