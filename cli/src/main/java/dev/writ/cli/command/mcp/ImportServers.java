package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.PackedCommand;
import dev.writ.cli.error.CliError;
import dev.writ.cli.setup.ConfiguredServer;
import dev.writ.cli.setup.LauncherPath;
import dev.writ.cli.setup.ServersFile;
import dev.writ.cli.setup.ServersPlaces;
import dev.writ.cli.setup.ServersRewrite;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.sandbox.host.ShellScript;
import dev.writ.tools.mcp.LocalSpec;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.UpstreamPackage;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** {@code writ mcp import}: the servers that clients have already (spec/mcp-import.md). */
final class ImportServers implements CliCommand {
  private static final int NAME_MAX = 48;

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "import",
            "Put the MCP servers behind Writ that a client of agents has in its configuration, or"
                + " that an entry of the MCP registry describes.",
            "Values that look like secrets are kept as secrets, never in a package. Of a"
                + " server that cannot be taken it says what to do; the others are taken.")
        .optionalArgument("FILE", "The file (default: those of all clients that are found).")
        .option("--from", "CLIENT", "claude-code, claude-desktop, cursor, vscode or codex.")
        .options("--only", "NAME,…", "Take these alone.")
        .options(
            "--code",
            "FOLDER",
            "A folder with code, which becomes part of the package of each whose command names a"
                + " file in it.")
        .options("--read", "PATH", "What each of them sees of this machine, read-only.")
        .options("--write", "FOLDER", "A folder that each of them sees and may change.")
        .options("--host", "HOST:PORT", "A place that each of them may connect to.")
        .option("--role", "ROLE", "The role that may call them (default: the policy's only one).")
        .flag("--ask", "Each call waits for an approval.")
        .flag("--dry-run", "Tell what would be done, and do nothing.")
        .flag("--rewrite", "Have the client start Writ in the place of each server.")
        .flag("--undo", "Give the client's file back as it was before --rewrite.")
        .option("--command", "PATH", "With --rewrite, where writ is (default: as it was called).");
  }

  /**
   * What became of one entry.
   *
   * @param name that it has here
   * @param result a word for programs: {@code added}, {@code there}, {@code would-be-added}, {@code
   *     left}, {@code refused}
   * @param code of the refusal
   * @param environment names of the variables whose values it has from here
   */
  private record Done(
      String entry,
      String name,
      String result,
      Optional<String> code,
      String words,
      List<String> secrets,
      List<String> environment) {
    boolean taken() {
      return !result.equals("refused");
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("entry", entry)
          .put("name", name)
          .put("result", result)
          .putIfPresent("code", code, JsonValue::of)
          .put("words", words)
          .putList("secrets", secrets, JsonValue::of)
          .putList("environment", environment, JsonValue::of)
          .build();
    }
  }

  /** What was done with one file. */
  private record Imported(Path file, List<Done> done, Optional<ServersRewrite.Changed> rewritten) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("file", file.toString())
          .putList("servers", done, Done::toJson)
          .put("rewritten", JsonValue.of(rewritten.isPresent()))
          .build();
    }
  }

  private record Result(List<Imported> files, Path policy, boolean dry) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().putList("files", files, Imported::toJson).build();
    }

    boolean complete() {
      return files.stream().flatMap(f -> f.done.stream()).allMatch(Done::taken);
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    List<ServersFile> files =
        files(session, arguments.optionalArgument("FILE"), arguments.option("--from"));
    if (arguments.has("--undo")) {
      return undo(session, arguments, files);
    }
    TreeSet<String> only = new TreeSet<>();
    arguments.options("--only").forEach(names -> only.addAll(Arrays.asList(names.split(","))));
    Optional<Path> launcher =
        arguments.has("--rewrite")
            ? Optional.of(LauncherPath.of(session, arguments.option("--command")))
            : Optional.empty();
    // All are read before anything is done.
    List<List<ConfiguredServer>> all = files.stream().map(ServersFile::servers).toList();
    requireNamed(only, all);
    List<Imported> imported = new ArrayList<>();
    for (int i = 0; i < files.size(); i++) {
      imported.add(new OneFile(session, arguments, files.get(i), launcher).take(all.get(i), only));
    }
    Result result =
        new Result(
            List.copyOf(imported), new Upstreams(session).policyFile(), arguments.has("--dry-run"));
    session.show(result, ImportServers::print);
    return result.complete() ? ExitCode.OK : ExitCode.REFUSED;
  }

  private static List<ServersFile> files(
      Session session, Optional<String> named, Optional<String> client) {
    if (named.isPresent() && client.isPresent()) {
      throw new WritException(CliError.USAGE, "name FILE or --from, not both");
    }
    List<Path> places =
        named
            .map(file -> List.of(Path.of(file)))
            .orElseGet(() -> ServersPlaces.of(session, client));
    List<ServersFile> files =
        places.stream().flatMap(place -> ServersFile.open(place).stream()).toList();
    if (files.isEmpty()) {
      throw new WritException(CliError.IMPORT_NONE, "there is none of " + places);
    }
    return files;
  }

  private static void requireNamed(TreeSet<String> only, List<List<ConfiguredServer>> all) {
    TreeSet<String> names = new TreeSet<>();
    all.forEach(servers -> servers.forEach(server -> names.add(server.name())));
    if (names.isEmpty()) {
      throw new WritException(CliError.IMPORT_NONE, "no file that was read has one");
    }
    if (!names.containsAll(only)) {
      throw new WritException(
          CliError.IMPORT_NONE, Text.printable("there are " + names + ", asked for " + only));
    }
  }

  private static ExitCode undo(Session session, Arguments arguments, List<ServersFile> files) {
    List<ServersRewrite.Changed> undone = new ArrayList<>();
    List<WritException> refused = new ArrayList<>();
    for (ServersFile file : files) {
      try {
        ServersRewrite.undo(file.file(), arguments.has("--dry-run")).ifPresent(undone::add);
      } catch (WritException e) {
        refused.add(e); // the files of other clients are given back all the same
      }
    }
    if (undone.isEmpty() && !refused.isEmpty()) {
      throw refused.getFirst();
    }
    session.show(
        new Undone(undone),
        (report, terminal) -> {
          if (undone.isEmpty()) {
            terminal.out().println("nothing to undo");
          }
          undone.forEach(changed -> {
            terminal.out().println(Text.printable(changed.file() + ": as it was before"));
          });
        });
    if (!refused.isEmpty()) {
      throw refused.getFirst();
    }
    return ExitCode.OK;
  }

  private record Undone(List<ServersRewrite.Changed> files) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .putList("undone", files, changed -> JsonValue.of(changed.file().toString()))
          .build();
    }
  }

  /** Takes the servers of one file. */
  private static final class OneFile {
    private final Session session;
    private final Arguments arguments;
    private final ServersFile file;
    private final Optional<Path> launcher;
    private final Upstreams upstreams;
    private final TreeSet<String> given = new TreeSet<>();

    /** The names that servers have here, by their entries: several may be one server. */
    private final LinkedHashMap<ConfiguredServer, String> taken = new LinkedHashMap<>();

    OneFile(Session session, Arguments arguments, ServersFile file, Optional<Path> launcher) {
      this.session = session;
      this.arguments = arguments;
      this.file = file;
      this.launcher = launcher;
      this.upstreams = new Upstreams(session);
    }

    Imported take(List<ConfiguredServer> servers, TreeSet<String> only) {
      List<Done> done = new ArrayList<>();
      for (ConfiguredServer server : servers) {
        if (only.isEmpty() || only.contains(server.name())) {
          done.add(take(server));
        }
      }
      taken.keySet().removeIf(server -> server.path().isEmpty());
      Optional<ServersRewrite.Changed> rewritten =
          launcher
              .filter(_ -> !taken.isEmpty())
              .map(writ ->
                  ServersRewrite.write(
                      file,
                      taken,
                      writ.toString(),
                      session.home().toAbsolutePath().normalize(),
                      arguments.has("--dry-run")));
      return new Imported(file.file(), List.copyOf(done), rewritten);
    }

    private Done take(ConfiguredServer server) {
      String name = name(server.name());
      try {
        if (server.refusal().isPresent()) {
          throw new WritException(CliError.IMPORT_ENTRY, server.refusal().get());
        }
        return take(server, name);
      } catch (WritException e) {
        return new Done(
            server.name(),
            name,
            server.left() ? "left" : "refused",
            Optional.of(e.code().code()),
            words(e),
            List.of(),
            List.of());
      }
    }

    /** A name alone, such as that of a program, does not say what is wrong with it. */
    private static String words(WritException e) {
      return e.found().contains(" ") ? e.found() : e.code().meaning() + ": " + e.found();
    }

    /** The folder of code that has what the command names. */
    private Optional<String> code(ServerSpec spec) {
      List<String> named = spec.local().map(LocalSpec::command).orElse(List.of());
      return arguments.options("--code").stream()
          .filter(folder -> {
            Path place = Path.of(folder).toAbsolutePath().normalize();
            return named.stream().anyMatch(word -> word.startsWith(place + "/"));
          })
          .findFirst();
    }

    private ServerCode codeOf(ConfiguredServer server) {
      return new ServerCode(
          session,
          (folder, _) ->
              Homes.name(session.terminal())
                  + " mcp import "
                  + ShellScript.quoted(file.file().toString())
                  + " --only "
                  + ShellScript.quoted(server.name())
                  + " --code "
                  + ShellScript.quoted(folder)
                  + (launcher.isPresent() ? " --rewrite" : ""));
    }

    private Done take(ConfiguredServer server, String name) {
      EntryValues values =
          EntryValues.of(server, name, session.environment(), upstreams.secrets(), foreign(name));
      ServerSpec spec =
          upstreams.keeping(
              values.spec(arguments.options("--host"), arguments.options("--read")),
              arguments.options("--write"));
      List<String> secrets = values.secretNames();
      Optional<UpstreamPackage> there = there(spec, values);
      if (there.isPresent()) {
        String known = there.get().manifest().name();
        taken.put(server, known);
        return new Done(
            server.name(),
            known,
            "there",
            Optional.empty(),
            "",
            there.get().spec().secretNames(),
            values.taken());
      }
      if (!given.add(name)) {
        throw new WritException(CliError.IMPORT_ENTRY, "another of them is " + name + " already");
      }
      Optional<String> code = code(spec);
      codeOf(server).check(spec, code);
      if (arguments.has("--dry-run")) {
        taken.put(server, name);
        return new Done(
            server.name(), name, "would-be-added", Optional.empty(), "", secrets, values.taken());
      }
      UpstreamPackage made = added(name, spec, code, values);
      taken.put(server, name);
      return new Done(
          server.name(),
          name,
          "added",
          Optional.empty(),
          made.tools().byName().size() + " tools",
          secrets,
          values.taken());
    }

    /** The names of the secrets of the servers with another name. */
    private Set<String> foreign(String name) {
      return upstreams.all().stream()
          .filter(p -> !p.manifest().name().equals(name))
          .flatMap(p -> p.spec().secretNames().stream())
          .collect(Collectors.toSet());
    }

    private UpstreamPackage added(
        String name, ServerSpec spec, Optional<String> code, EntryValues values) {
      values.store();
      try {
        UpstreamPackage made =
            new NewServer(name, spec, new TreeMap<>(), code, false).add(session, upstreams);
        upstreams.allow(made.manifest(), arguments.option("--role"), arguments.has("--ask"));
        return made;
      } catch (RuntimeException e) {
        values.forget();
        throw e;
      }
    }

    /** A server here that came from the same words, and has the same secrets. */
    private Optional<UpstreamPackage> there(ServerSpec spec, EntryValues values) {
      return upstreams.all().stream()
          .filter(p -> upstreams.isListed(p.manifest()))
          .filter(p ->
              EntryWords.of(p.spec(), values::valueOf)
                  .equals(EntryWords.of(PackedCommand.of(spec, p), values::valueOf)))
          .findFirst();
    }

    /**
     * As names of servers have to be: a letter goes without its marks, and where one is none of
     * a-z, the beginning of the digest of the whole name tells it from others.
     */
    private static String name(String entry) {
      String bare =
          Normalizer.normalize(entry, Normalizer.Form.NFKD)
              .replaceAll("\\p{M}+", "")
              .toLowerCase(Locale.ROOT);
      String plain = bare.replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
      String begun = plain.matches("[a-z].*") ? plain : ("mcp-" + plain).replaceAll("-$", "");
      boolean loses = bare.codePoints().anyMatch(c -> c > 0x7f && Character.isLetterOrDigit(c));
      String end =
          loses
              ? "-" + Digest.sha256(entry.getBytes(StandardCharsets.UTF_8)).hex().substring(0, 8)
              : "";
      int most = NAME_MAX - end.length();
      return (begun.length() <= most ? begun : begun.substring(0, most).replaceAll("-$", "")) + end;
    }
  }

  private static void print(Result result, Terminal terminal) {
    boolean added = false;
    for (Imported one : result.files) {
      terminal.out().println(Text.printable(one.file.toString()));
      Table table =
          new Table()
              .column("entry", Table.Fit.KEEP)
              .column("here", Table.Fit.KEEP)
              .column("result", Table.Fit.KEEP)
              .column("why", Table.Fit.WRAP);
      for (Done done : one.done) {
        String secrets = done.secrets.isEmpty() ? "" : " secrets: " + done.secrets;
        String environment =
            done.environment.isEmpty() ? "" : " from the environment: " + done.environment;
        added |= done.result.equals("added");
        table.row(
            Table.cell(Text.printable(done.entry)),
            Table.cell(done.taken() && !done.result.equals("left") ? done.name : "–"),
            Table.cell(done.result.replace('-', ' '), done.taken() ? Style.GOOD : Style.BAD),
            Table.cell(
                Text.printable(
                    (done.code.map(c -> c + " ").orElse("") + done.words + secrets + environment)
                        .strip())));
      }
      terminal.print(table);
      one.rewritten.ifPresent(changed -> {
        terminal
            .out()
            .println(
                Text.printable(
                    changed.file()
                        + (result.dry
                            ? ": would be changed"
                            : ": starts Writ in their place; the backup is " + changed.backup())));
      });
    }
    if (added) {
      terminal.out().println(result.policy + " lets agents call them, once it is in force:");
      terminal.out().println("  " + Homes.activation(terminal, result.policy));
    }
  }
}
