package dev.writ.conform.mutant;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.run.ProcessImplementation;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The second verifier, {@code verify.mjs}, in one node process behind its adapter. */
final class MutatedScript implements MutatedCode {
  private static final String ACORN = "/META-INF/resources/webjars/acorn/8.15.0/dist/acorn.mjs";
  private static final Path TOP = Golden.ROOT.resolveSibling(".");

  private final List<JavaMutator.Change> mutants;
  private final Path folder;
  private final ProcessImplementation process;
  private Optional<JsonValue.Obj> asked = Optional.empty();
  private int on;

  /**
   * @param folder for the copy
   * @param areas functions of verify.mjs
   */
  MutatedScript(Path folder, List<String> areas) {
    this.folder = folder;
    try {
      put(ACORN, folder.resolve("acorn.mjs"));
      put("mutate.mjs", folder.resolve("mutate.mjs"));
      put("on.mjs", folder.resolve("on.mjs"));
      put("remember.mjs", folder.resolve("remember.mjs"));
      this.mutants = mutate(folder, areas);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.process =
        new ProcessImplementation(
            String.format(
                "node '%s/conform/src/main/resources/dev/writ/conform/adapter.mjs' '%s/on.mjs'",
                TOP, folder),
            Duration.ofSeconds(20));
  }

  private static void put(String resource, Path file) throws IOException {
    try (InputStream in = MutatedScript.class.getResourceAsStream(resource)) {
      Files.write(file, in.readAllBytes());
    }
  }

  private static List<JavaMutator.Change> mutate(Path folder, List<String> areas)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("node", folder + "/mutate.mjs"));
    command.add(folder + "/acorn.mjs");
    command.add(TOP + "/verify/src/main/resources/dev/writ/verify/bundle/verify.mjs");
    command.add(folder + "/copy.mjs");
    command.addAll(areas);
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    List<JavaMutator.Change> mutants = new ArrayList<>();
    for (String line : new String(process.getInputStream().readAllBytes(), UTF_8).split("\n")) {
      if (!line.startsWith("{")) {
        throw new IllegalStateException("mutate.mjs says: " + line);
      }
      Fields fields = Fields.of("mutant", Jcs.parse(line.getBytes(UTF_8)));
      mutants.add(new JavaMutator.Change((int) fields.count("id"), fields.string("key")));
    }
    return List.copyOf(mutants);
  }

  @Override
  public List<JavaMutator.Change> mutants() {
    return mutants;
  }

  @Override
  public void turn(int id) {
    on = id;
  }

  @Override
  public BitSet reached() {
    try {
      BitSet reached = new BitSet();
      for (String id : Files.readString(folder.resolve("reached.txt")).split(" ")) {
        reached.set(Integer.parseInt(id));
      }
      return reached;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public AdapterAnswer ask(String op, JsonValue.Obj input) {
    // The copy remembers the last question's input, which need not be sent and read again.
    boolean again = asked.filter(last -> last == input).isPresent();
    TreeMap<String, JsonValue> members = again ? new TreeMap<>() : new TreeMap<>(input.members());
    members.put("mutant", JsonValue.of(on));
    asked = Optional.empty(); // a process that breaks has forgotten it
    AdapterAnswer answer = process.ask(op, new JsonValue.Obj(members));
    asked = Optional.of(input);
    return answer;
  }

  @Override
  public String name() {
    return "verify.mjs";
  }

  @Override
  public void close() {
    process.close();
  }
}
