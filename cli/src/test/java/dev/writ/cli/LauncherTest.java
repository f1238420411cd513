package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.writ.cli.base.Version;
import dev.writ.cli.rules.Project;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.CodeModel;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The real launcher, in processes of its own, called through a link from another folder. */
class LauncherTest {
  private static final Path TOP = Project.root();

  @TempDir Path folder;

  private record Ended(int status, String out, String err) {}

  @BeforeAll
  static void buildOnceOutsideTheTests() throws Exception {
    Path somewhere = Files.createTempDirectory("writ-test");
    Ended ended = run(somewhere, "", List.of(TOP.resolve("writ").toString(), "--version"));
    assertThat(ended.status()).as(ended.err()).isZero();
    Files.delete(somewhere);
  }

  private Ended writ(String... args) throws Exception {
    Path link = folder.resolve("a link");
    if (!Files.exists(link, LinkOption.NOFOLLOW_LINKS)) {
      Path first = Files.createSymbolicLink(folder.resolve("first"), TOP.resolve("writ"));
      Files.createSymbolicLink(link, folder.relativize(first));
    }
    List<String> command = new ArrayList<>(List.of(link.toString()));
    command.addAll(List.of(args));
    return run(folder, "{\"b\":1,\"a\":2}", command);
  }

  private static Ended run(Path folder, String input, List<String> command) throws Exception {
    return run(folder, input, Map.of(), command);
  }

  private static Ended run(
      Path folder, String input, Map<String, String> environment, List<String> command)
      throws Exception {
    Path in = Files.writeString(Files.createTempFile("writ", ".in"), input);
    Path out = Files.createTempFile("writ", ".out");
    Path err = Files.createTempFile("writ", ".err");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectInput(in.toFile())
              .redirectOutput(out.toFile())
              .redirectError(err.toFile());
      builder.environment().remove("WRIT_HOME");
      builder.environment().putAll(environment);
      Process process = builder.start();
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).as("ended: " + command).isTrue();
      return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
    } finally {
      for (Path file : List.of(in, out, err)) {
        Files.delete(file);
      }
    }
  }

  @Test
  void worksThroughALinkFromAnyFolderAndLeavesNothingThere() throws Exception {
    assertThat(writ("--version")).isEqualTo(new Ended(0, "writ " + Version.text() + "\n", ""));
    assertThat(writ("canon", "-")).isEqualTo(new Ended(0, "{\"a\":2,\"b\":1}", ""));
    Ended doctor = writ("doctor");
    assertThat(doctor.out()).contains(folder.resolve("writ-data") + " is not there yet");
    assertThat(doctor.err()).isEmpty();
    try (var files = Files.list(folder)) {
      assertThat(files.map(f -> f.getFileName().toString()))
          .containsExactlyInAnyOrder("a link", "first");
    }
    assertThat(TOP.resolve("writ-data")).doesNotExist();
  }

  /** A JVM that finds no current folder ends with a stack trace. */
  @Test
  void aFolderThatIsNotThereAnyMoreIsNamed() throws Exception {
    Files.createDirectory(folder.resolve("gone"));
    Ended ended =
        run(
            folder,
            "",
            List.of(
                "sh",
                "-c",
                "cd gone && rmdir ../gone && exec \"$0\" --home nothing doctor",
                TOP.resolve("writ").toString()));
    assertThat(ended.status()).isEqualTo(6);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err())
        .contains("writ: the current folder is not there any more. ")
        .doesNotContain("Error", "\tat ");
  }

  /** The jars of the launcher have no entries for folders, so nothing may be looked for in one. */
  @Test
  void aLedgerInPostgresIsMadeFromWhatTheLauncherHas() throws Exception {
    String address = PostgresServer.shared().newAddress().toString();
    Ended made = writ("init", "--database", address);
    assertThat(made.status()).as(made.err()).isZero();
    assertThat(made.err()).isEmpty();
    Ended ran = writ("run", "js", "--param", "source=6*7");
    assertThat(ran.out()).as(ran.err()).isEqualTo("42");
    assertThat(writ("fsck").out()).contains("sound");
  }

  /** A reader of a large ledger has a small heap, and a ledger is at the home that is named. */
  @ParameterizedTest
  @CsvSource({
    "--home big audit, large",
    "--home=big audit, large",
    "audit --home big, large",
    "export main -o out.writ --home=big, large",
    "audit, home",
    "audit -- --home=big, home",
    "runs --home big, read"
  })
  void theHomeIsFoundBeforeTheCommandAndBehindIt(String line, String mode) throws Exception {
    Path tables = Files.createDirectories(folder.resolve("big/ledger/db"));
    try (RandomAccessFile table = new RandomAccessFile(tables.resolve("1.sst").toFile(), "rw")) {
      table.setLength(6L << 20);
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                "bash",
                "-c",
                "file=$0; . \"$file\"; echo \"$mode\"",
                TOP.resolve("config/launcher/start.sh").toString()));
    command.addAll(List.of(line.split(" ")));
    assertThat(run(folder, "", command).out().strip()).isEqualTo(mode);
  }

  @Test
  void argumentsArriveAsTheyAre() throws Exception {
    for (String odd : List.of("a b", "*", "$HOME", "\"", "@x", "é日")) {
      assertThat(writ("canon", odd).err()).contains("CLI-002", odd + " does not exist");
    }
  }

  /** Else a request would be signed that nobody made: each byte would be another character. */
  @ParameterizedTest
  @CsvSource({"LC_ALL,C", "LC_ALL,POSIX", "LC_ALL,xx_XX.UTF-8", "LC_CTYPE,UTF-8", "LANG,''"})
  void whatIsTypedArrivesAsItIsWithoutALocaleToo(String variable, String value) throws Exception {
    Path home = Files.createDirectory(folder.resolve("hö 日"));
    Files.writeString(home.resolve("é.json"), "{\"é\":1}");
    Map<String, String> locale = new TreeMap<>(Map.of("LC_ALL", "", "LC_CTYPE", "", "LANG", ""));
    locale.put(variable, value);
    locale.put("WRIT_HOME", home.toString());
    String writ = TOP.resolve("writ").toString();
    Ended read = run(home, "", locale, List.of(writ, "canon", "é.json"));
    assertThat(read.out()).as(read.err()).isEqualTo("{\"é\":1}");
    assertThat(said(read)).isEmpty();
    Ended looked = run(home, "", locale, List.of(writ, "runs"));
    assertThat(said(looked)).startsWith("writ: CLI-010 ").contains(home.toString());
  }

  /** Without what bash itself says of a locale that is not here. */
  private static String said(Ended ended) {
    return ended.err().replaceAll("(?m)^bash: warning: setlocale: .*\n", "");
  }

  /** What waits for something to print is not kept by a reader that has gone meanwhile. */
  @Test
  void whatFollowsEndsWithItsReaderAlsoWhereNothingHappens() throws Exception {
    String home = folder.resolve("followed").toString();
    String writ = TOP.resolve("writ") + " --home " + home;
    assertThat(run(folder, "", List.of("bash", "-c", writ + " init")).status()).isZero();
    for (String follows : List.of(" approvals --watch", " log -f")) {
      String line = "timeout 60 " + writ + follows + " | head -1; echo ${PIPESTATUS[0]}";
      assertThat(run(folder, "", List.of("bash", "-c", line)).out()).as(follows).endsWith("\n0\n");
    }
  }

  /** In bash, since Java has no words of a command line that are no text. */
  @Test
  void bytesThatAreNoTextAreRefusedRatherThanSignedAsSomethingElse() throws Exception {
    String typed = TOP.resolve("writ") + " run js --param source=$'\"\\xe4\"'";
    Ended refused = run(folder, "", Map.of("LC_ALL", "C.UTF-8"), List.of("bash", "-c", typed));
    assertThat(refused.err())
        .startsWith("writ: CLI-001 ")
        .contains("argument 4 has bytes that are no text in UTF-8");
    assertThat(refused.status()).isEqualTo(2);
    Ended named =
        run(
            folder,
            "",
            Map.of("LC_ALL", "xx_XX.ISO-8859-1", "WRIT_HOME", "hö"),
            List.of(TOP.resolve("writ").toString(), "runs"));
    assertThat(said(named)).startsWith("writ: CLI-001 ").contains("WRIT_HOME has bytes");
    assertThat(named.status()).isEqualTo(2);
  }

  @Test
  void endsWithTheStatusOfTheCommandAndNeverWithAStackTrace() throws Exception {
    List<List<String>> wrong =
        List.of(
            List.of("frobnicate"),
            List.of("canon"),
            List.of("canon", "/nonexistent"),
            List.of("canon", "--check", "-"),
            List.of("doctor", "--home", "/dev/null/x"));
    List<Integer> statuses = new ArrayList<>();
    for (List<String> args : wrong) {
      Ended ended = writ(args.toArray(String[]::new));
      statuses.add(ended.status());
      assertThat(ended.out() + ended.err()).doesNotContain("\tat ", "Exception");
    }
    assertThat(statuses).containsExactly(2, 2, 4, 4, 6);
  }

  @Test
  void aFullDiskIsNoSuccess() throws Exception {
    assumeTrue(Files.exists(Path.of("/dev/full")), "this system has no /dev/full");
    Ended ended = run(folder, "1", List.of("sh", "-c", TOP + "/writ canon - > /dev/full"));
    assertThat(ended.status()).isEqualTo(6);
    assertThat(ended.err()).contains("CLI-004").hasLineCount(1);
  }

  @Test
  void ctrlCEndsItWithStatus130AndNoWord() throws Exception {
    Process process =
        // A job in the background of a script ignores the signal, and so would all that it starts.
        new ProcessBuilder(
                "env", "--default-signal=INT", TOP.resolve("writ").toString(), "canon", "-")
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    // It waits for its input, which never comes; java has taken the place of the shell by then.
    while (process.info().command().filter(c -> c.endsWith("/java")).isEmpty()) {
      assertThat(process.isAlive()).isTrue();
      Thread.sleep(1);
    }
    process.getOutputStream().write('[');
    process.getOutputStream().flush();
    do {
      // Until the JVM has set its handlers up the signal ends it all the same, as 130 or as 128+2.
      new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
    } while (!process.waitFor(1, TimeUnit.SECONDS));
    assertThat(process.exitValue()).isEqualTo(130);
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEmpty();
  }

  @Test
  void theCompletionScriptIsValidBashAndCompletesCommandsAndOptions() throws Exception {
    Path script = folder.resolve("completion.bash");
    Files.writeString(script, writ("completion", "bash").out());
    Ended checked = run(folder, "", List.of("bash", "-n", script.toString()));
    assertThat(checked).isEqualTo(new Ended(0, "", ""));
    assertThat(complete(script, "writ", "do")).contains("doctor");
    assertThat(complete(script, "writ", "canon", "--di")).contains("--digest");
    assertThat(complete(script, "writ", "")).contains("canon", "version").doesNotContain("train");
  }

  private List<String> complete(Path script, String... words) throws Exception {
    String line =
        // bash has compopt only while it completes for a person.
        "compopt() { :; }; source '"
            + script
            + "'; COMP_WORDS=("
            + String.join(" ", List.of(words).stream().map(w -> "'" + w + "'").toList())
            + "); COMP_CWORD="
            + (words.length - 1)
            + "; _complete_writ; printf '%s\\n' \"${COMPREPLY[@]}\"";
    Ended ended = run(folder, "", List.of("bash", "-c", line));
    assertThat(ended.err()).isEmpty();
    return ended.out().lines().toList();
  }

  @ParameterizedTest
  @CsvSource({
    "25.0.3, true, true",
    "25-ea, true, true",
    "26, true, true",
    "25, false, false",
    "24.0.2, true, false",
    "17.0.15, true, false",
    "1.8.0_402, true, false",
    "'', true, false",
  })
  void aJdkIsTakenByItsReleaseFile(String version, boolean javac, boolean taken) throws Exception {
    Path jdk = Files.createDirectories(folder.resolve("jdk/bin")).getParent();
    for (String name : javac ? List.of("java", "javac") : List.of("java")) {
      Path file = Files.createFile(jdk.resolve("bin").resolve(name));
      assertThat(file.toFile().setExecutable(true)).isTrue();
    }
    Files.writeString(
        jdk.resolve("release"), "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"" + version + "\"\n");
    String line = ". " + TOP + "/config/launcher/jdk.sh; jdk_is_new_enough '" + jdk + "'";
    assertThat(run(folder, "", List.of("bash", "-c", line)).status() == 0).isEqualTo(taken);
  }

  /** What {@code jdk_find} gives with that file and a java on PATH in the given folder. */
  private String found(Path memory, Path bin) throws Exception {
    String line =
        "unset JAVA_HOME WRIT_JAVA_HOME; PATH="
            + bin
            + ":$PATH; . "
            + TOP
            + "/config/launcher/jdk.sh; jdk_find "
            + memory
            + " && echo $jdk";
    return run(folder, "", List.of("bash", "-c", line)).out().strip();
  }

  private Path jdk(String name, String version) throws Exception {
    Path bin = Files.createDirectories(folder.resolve(name).resolve("bin"));
    for (String program : List.of("java", "javac")) {
      assertThat(Files.createFile(bin.resolve(program)).toFile().setExecutable(true)).isTrue();
    }
    Files.writeString(bin.resolveSibling("release"), "JAVA_VERSION=\"" + version + "\"\n");
    return bin;
  }

  @Test
  void theJdkThatWasFoundIsRememberedWhileJavaOnPathIsTheSame() throws Exception {
    Path memory = folder.resolve("jdk");
    Path first = jdk("first", "25.0.1");
    Path second = jdk("second", "26");
    Path bin = Files.createDirectories(folder.resolve("bin"));
    Path java = Files.createSymbolicLink(bin.resolve("java"), first.resolve("java"));
    String firstHome = first.getParent().toRealPath().toString();
    assertThat(found(memory, bin)).isEqualTo(firstHome);
    assertThat(Files.readAllLines(memory)).hasSize(3).first().isEqualTo(java.toString());
    // It is taken from there: another home with the same java on PATH is believed.
    Files.writeString(
        memory, java + "\n" + first.resolve("java") + "\n" + second.getParent() + "\n");
    assertThat(found(memory, bin)).isEqualTo(second.getParent().toString());
    // The link leads elsewhere now, as when the system's alternatives change.
    Files.delete(java);
    Files.createSymbolicLink(java, jdk("third", "27").resolve("java"));
    assertThat(found(memory, bin)).isEqualTo(folder.toRealPath().resolve("third").toString());
    // What is remembered has gone, is too old, or is no memory at all.
    for (String bad : List.of("/nonexistent", jdk("old", "17").getParent().toString(), "")) {
      Files.writeString(memory, java + "\n" + java + "\n" + bad + "\n");
      assertThat(found(memory, bin)).isEqualTo(folder.toRealPath().resolve("third").toString());
    }
    Files.writeString(memory, "x");
    assertThat(found(memory, bin)).isEqualTo(folder.toRealPath().resolve("third").toString());
  }

  @Test
  void aFolderUnderAnotherNameIsTheSameBuild() throws Exception {
    Path other = Files.createSymbolicLink(folder.resolve("other"), TOP);
    Path stamp = TOP.resolve("cli/target/writ/current");
    String before = Files.readString(stamp);
    var time = Files.getLastModifiedTime(stamp);
    Ended ended = run(folder, "", List.of(other.resolve("writ").toString(), "--version"));
    assertThat(ended).isEqualTo(new Ended(0, "writ " + Version.text() + "\n", ""));
    assertThat(Files.readString(stamp)).isEqualTo(before);
    assertThat(Files.getLastModifiedTime(stamp)).as("nothing was built").isEqualTo(time);
  }

  @Test
  void aJdkThatIsNamedAndTooOldIsRefusedAndNotReplaced() throws Exception {
    String line = "WRIT_JAVA_HOME=/nonexistent " + TOP + "/writ --version";
    Ended ended = run(folder, "", List.of("bash", "-c", line));
    assertThat(ended.status()).isEqualTo(6);
    assertThat(ended.err()).contains("WRIT_JAVA_HOME=/nonexistent is no JDK 25").hasLineCount(1);
  }

  @Test
  void theBuildProgramCompilesWithoutWarnings() {
    Path folderOfIt = TOP.resolve("config/launcher");
    var compiler = ToolProvider.getSystemJavaCompiler();
    var messages = new StringWriter();
    try (var files = compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8)) {
      boolean done =
          compiler
              .getTask(
                  messages,
                  files,
                  null,
                  List.of("-Xlint:all", "-Werror", "-d", folder.toString()),
                  null,
                  files.getJavaFileObjects(
                      folderOfIt.resolve("Build.java"), folderOfIt.resolve("Settled.java")))
              .call();
      assertThat(done).as(messages.toString()).isTrue();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Switches of each kind that the launcher's build rewrites, and those that it must leave. */
  private static final String SWITCHING =
      """
      interface Switching {
        sealed interface Shape permits Dot, Line, Box {}
        record Dot(int at) implements Shape {}
        record Line(Shape from, Shape to) implements Shape {}
        record Box(Object in) implements Shape {}
        enum Hue { RED, BLUE }
        record Nothing() {}
        record Sorts(int i, long l, double d, float f, boolean z, byte b, char c, short s,
            String text, int[] array, Nothing nothing) {}

        static String of(Object value) {
          return shape(value) + guarded(value) + constants(value) + plain(value)
              + (value instanceof Sorts sorts ? record(sorts) : "");
        }

        private static String record(Sorts a) {
          Sorts same = new Sorts(a.i, a.l, a.d, a.f, a.z, a.b, a.c, a.s,
              new String(a.text), a.array, new Nothing());
          Sorts zero = new Sorts(a.i, a.l, a.d, -a.f, a.z, a.b, a.c, a.s, a.text, a.array, null);
          return a.hashCode() + " " + a + zero + a.equals(same) + a.equals(zero) + a.equals("a")
              + a.equals(null) + same.hashCode() + zero.hashCode() + new Nothing();
        }

        private static String shape(Object value) {
          return !(value instanceof Shape shape) ? "-" : switch (shape) {
            case Dot(int at) -> "dot " + at;
            case Line(Dot a, Dot b) -> "between " + a.at() + " and " + b.at();
            case Line(Shape a, Box _) -> "to a box from " + shape(a);
            case Line _ -> "line";
            case Box box -> "box of " + of(box.in());
          };
        }

        private static String guarded(Object value) {
          return switch (value) {
            case null -> "null";
            case String s when s.isEmpty() -> "empty";
            case String s when s.length() > 3 -> "long";
            case CharSequence s -> "text " + s;
            case Integer n when n > 9 -> "many";
            case int[] numbers -> "numbers " + numbers.length;
            default -> value.getClass().getName();
          };
        }

        private static String constants(Object value) {
          return switch (value) {
            case Hue.RED -> "red";
            case null, default -> "no red";
          };
        }

        private static String plain(Object value) {
          try {
            return switch (value) {
              case Number n -> "number " + n;
              default -> "other";
            };
          } catch (NullPointerException e) {
            return "refused";
          }
        }
      }
      """;

  @Test
  void switchesOverTypesAndRecordsMeanTheSameInTheBuildOfTheLauncher() throws Exception {
    Path source = Files.writeString(folder.resolve("Switching.java"), SWITCHING);
    Path classes = Files.createDirectories(folder.resolve("classes"));
    Path program = TOP.resolve("config/launcher/Settled.java");
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-d", classes + "", source + "", program + ""))
        .isZero();
    try (URLClassLoader before = new URLClassLoader(new URL[] {classes.toUri().toURL()}, null)) {
      Class<?> build = before.loadClass("Settled");
      Method settled = build.getDeclaredMethod("of", byte[].class, ClassHierarchyResolver.class);
      settled.setAccessible(true);
      switching(before, "sorts"); // loads all of its classes as they were
      byte[] bytes = Files.readAllBytes(classes.resolve("Switching.class"));
      byte[] changed =
          (byte[])
              settled.invoke(
                  null,
                  bytes,
                  ClassHierarchyResolver.ofResourceParsing(before)
                      .orElse(ClassHierarchyResolver.defaultResolver()));
      assertThat(left(bytes)).contains("typeSwitch");
      assertThat(left(changed)).as("the switch with a constant").containsOnlyOnce("typeSwitch");
      settle(settled, before, classes.resolve("Switching$Sorts.class"));
      Files.write(classes.resolve("Switching.class"), changed);
      try (URLClassLoader after = new URLClassLoader(new URL[] {classes.toUri().toURL()}, null)) {
        for (String value :
            List.of(
                "null",
                "",
                "abc",
                "abcd",
                "7",
                "77",
                "red",
                "blue",
                "dot",
                "box",
                "dots",
                "toBox",
                "boxToDot",
                "numbers",
                "sorts",
                "otherSorts",
                "long")) {
          assertThat(switching(after, value)).as(value).isEqualTo(switching(before, value));
        }
      }
    }
  }

  /** The calls in a class that the JVM makes a target for when it gets there. */
  private static String left(byte[] bytes) {
    return ClassFile.of().parse(bytes).methods().stream()
        .flatMap(m -> m.code().stream().flatMap(CodeModel::elementStream))
        .filter(InvokeDynamicInstruction.class::isInstance)
        .map(call -> ((InvokeDynamicInstruction) call).bootstrapMethod().methodName())
        .toList()
        .toString();
  }

  /** Rewrites one class file as the build does. */
  private static void settle(Method settled, ClassLoader loader, Path file) throws Exception {
    byte[] changed =
        (byte[])
            settled.invoke(
                null,
                Files.readAllBytes(file),
                ClassHierarchyResolver.ofResourceParsing(loader)
                    .orElse(ClassHierarchyResolver.defaultResolver()));
    assertThat(left(changed)).isEqualTo("[]");
    Files.write(file, changed);
  }

  /** What the class of this loader says of one value. */
  private static Object switching(ClassLoader loader, String value) throws Exception {
    Method of = loader.loadClass("Switching").getDeclaredMethod("of", Object.class);
    of.setAccessible(true);
    return of.invoke(null, value(loader, value));
  }

  private static Object value(ClassLoader loader, String value) throws Exception {
    return switch (value) {
      case "null" -> null;
      case "7" -> 7;
      case "77" -> 77;
      case "long" -> 1L;
      case "numbers" -> new int[3];
      case "red", "blue" ->
          loader.loadClass("Switching$Hue").getField(value.toUpperCase(Locale.ROOT)).get(null);
      case "dot" -> made(loader, "Dot", 3);
      case "sorts", "otherSorts" -> {
        boolean other = value.equals("otherSorts");
        yield made(
            loader,
            "Sorts",
            7,
            1L << 40,
            other ? Double.NaN : 1.5,
            0f,
            other,
            (byte) -1,
            'x',
            (short) 9,
            other ? "" : "t",
            null,
            null);
      }
      case "box" -> made(loader, "Box", "abcd");
      case "dots" -> made(loader, "Line", value(loader, "dot"), value(loader, "dot"));
      case "toBox" -> made(loader, "Line", value(loader, "dots"), value(loader, "box"));
      case "boxToDot" -> made(loader, "Line", value(loader, "box"), value(loader, "dot"));
      default -> value;
    };
  }

  private static Object made(ClassLoader loader, String name, Object... parts) throws Exception {
    var constructor = loader.loadClass("Switching$" + name).getDeclaredConstructors()[0];
    constructor.setAccessible(true);
    return constructor.newInstance(parts);
  }
}
