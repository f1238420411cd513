package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import dev.writ.tools.browser.PinnedPdf;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Prints a report as PDF by a Chromium of the host (spec/report.md, <em>On paper</em>). The page
 * verifies itself there as anywhere, and one that does not is not printed.
 */
final class PagePrinter {
  /** Names an executable that is used in place of those on the PATH. */
  static final String VARIABLE = "WRIT_CHROMIUM";

  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");

  /** How long the largest page may take until it is given up, in minutes. */
  private static final int MINUTES = 15;

  private static final int PIECE = 1 << 20;

  /** A shell, since a process of Java has no descriptors 3 and 4, where Chromium's pipe is. */
  private static final List<String> SHELL =
      List.of("/bin/sh", "-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh");

  private static final List<String> FLAGS =
      List.of(
          "--headless",
          "--disable-gpu",
          "--disable-dev-shm-usage",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
          "--host-resolver-rules=MAP * ~NOTFOUND",
          "--remote-debugging-pipe");

  /** Is true when the page says how it ended: the outcome, and the time of the run's last event. */
  private static final String ENDED =
      """
      new Promise((resolve) => {
        const look = () => {
          const said = document.documentElement?.dataset;
          return said?.outcome && (resolve(`${said.outcome} ${said.until ?? ''}`), true);
        };
        if (look()) return;
        const seen = new MutationObserver(() => look() && seen.disconnect());
        seen.observe(document, { subtree: true, childList: true, attributes: true });
      })
      """;

  private static final Pattern PART = Pattern.compile("\\(node([0-9]{8})\\)");

  private final Path chromium;

  private PagePrinter(Path chromium) {
    this.chromium = chromium;
  }

  /**
   * Finds a browser, so that nothing is begun where there is none.
   *
   * @throws WritException {@code CLI-085}
   */
  static PagePrinter of(Map<String, String> environment) {
    String named = environment.getOrDefault(VARIABLE, "");
    if (!named.isEmpty()) {
      Path program = Path.of(named);
      if (Files.isExecutable(program)) {
        return new PagePrinter(program);
      }
      throw new WritException(
          CliError.BROWSER_MISSING, VARIABLE + " names " + named + ", which cannot be executed");
    }
    return NAMES.stream()
        .flatMap(name ->
            Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst()
        .map(PagePrinter::new)
        .orElseThrow(() ->
            new WritException(
                CliError.BROWSER_MISSING, "none of " + String.join(", ", NAMES) + " is on PATH"));
  }

  /**
   * The page as PDF: the same page and browser give the same bytes.
   *
   * @throws WritException {@code CLI-086}
   */
  byte[] print(Path page) {
    AtomicReference<Process> running = new AtomicReference<>();
    try (TemporaryDirectory profile =
        TemporaryDirectory.create("writ-chromium", () -> end(running.get()))) {
      Process browser = started(profile.path());
      running.set(browser);
      CompletableFuture.delayedExecutor(MINUTES, TimeUnit.MINUTES)
          .execute(browser::destroyForcibly);
      try {
        return printed(new DevtoolsPipe(browser.getOutputStream(), browser.getInputStream()), page);
      } finally {
        end(browser);
      }
    } catch (IOException e) {
      throw new WritException(CliError.PRINTING_FAILED, chromium + ": " + e.getMessage(), e);
    }
  }

  private Process started(Path profile) throws IOException {
    List<String> command = new ArrayList<>(SHELL);
    command.add(chromium.toString());
    command.addAll(FLAGS);
    command.add("--user-data-dir=" + profile);
    if (System.getProperty("user.name").equals("root")) {
      // Chromium's own sandbox refuses to be started by root.
      command.add("--no-sandbox");
    }
    command.add("about:blank");
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
  }

  private static byte[] printed(DevtoolsPipe pipe, Path page) throws IOException {
    Optional<String> none = Optional.empty();
    String target =
        DevtoolsPipe.text(
            pipe.ask(none, "Target.createTarget", object("url", JsonValue.of("about:blank"))),
            "targetId");
    JsonValue attach =
        JsonValue.object().put("targetId", target).put("flatten", JsonValue.TRUE).build();
    Optional<String> tab =
        Optional.of(
            DevtoolsPipe.text(pipe.ask(none, "Target.attachToTarget", attach), "sessionId"));
    pipe.ask(
        tab,
        "Page.navigate",
        object("url", JsonValue.of(page.toAbsolutePath().toUri().toString())));
    Instant until = verified(pipe, tab);
    JsonValue how =
        JsonValue.object()
            .put("generateDocumentOutline", JsonValue.TRUE)
            .put("preferCSSPageSize", JsonValue.TRUE)
            .put("printBackground", JsonValue.TRUE)
            .put("transferMode", "ReturnAsStream")
            .build();
    String stream = DevtoolsPipe.text(pipe.ask(tab, "Page.printToPDF", how), "stream");
    byte[] pdf = read(pipe, tab, stream);
    return renumbered(PinnedPdf.at(until, pdf));
  }

  /** Waits until the page has verified itself; gives the time of the run's last event. */
  private static Instant verified(DevtoolsPipe pipe, Optional<String> tab) throws IOException {
    JsonValue look =
        JsonValue.object()
            .put("awaitPromise", JsonValue.TRUE)
            .put("expression", ENDED)
            .put("returnByValue", JsonValue.TRUE)
            .build();
    if (pipe.ask(tab, "Runtime.evaluate", look).get("result") instanceof JsonValue.Obj result) {
      String[] said = DevtoolsPipe.text(result, "value").split(" ", 2);
      if (said.length == 2 && (said[0].equals("verified") || said[0].equals("integrity"))) {
        return Instant.parse(said[1]);
      }
      throw new IOException("the page does not verify there: " + said[0]);
    }
    throw new IOException("the page does not say how it ended");
  }

  private static byte[] read(DevtoolsPipe pipe, Optional<String> tab, String stream)
      throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    JsonValue piece = JsonValue.object().put("handle", stream).put("size", PIECE).build();
    JsonValue.Obj answer;
    do {
      answer = pipe.ask(tab, "IO.read", piece);
      String data = DevtoolsPipe.text(answer, "data");
      all.writeBytes(
          JsonValue.TRUE.equals(answer.get("base64Encoded"))
              ? Base64.getDecoder().decode(data)
              : data.getBytes(StandardCharsets.ISO_8859_1));
    } while (!JsonValue.TRUE.equals(answer.get("eof")));
    return all.toByteArray();
  }

  /**
   * Chromium names the parts of a document by numbers that begin anywhere, but keep their order:
   * they are counted from 1 here. A number is replaced by one as long, so that no offset moves.
   */
  private static byte[] renumbered(byte[] pdf) {
    String text = new String(pdf, StandardCharsets.ISO_8859_1);
    TreeMap<String, String> numbers = new TreeMap<>();
    PART.matcher(text).results().forEach(found -> numbers.put(found.group(1), ""));
    int count = 0;
    for (Map.Entry<String, String> number : numbers.entrySet()) {
      count++;
      number.setValue(String.format(Locale.ROOT, "%08d", count));
    }
    return PART.matcher(text)
        .replaceAll(found -> "(node" + numbers.get(found.group(1)) + ")")
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  private static JsonValue object(String member, JsonValue value) {
    return JsonValue.object().put(member, value).build();
  }

  private static void end(Process browser) {
    if (browser == null) {
      return;
    }
    try {
      browser.getOutputStream().close(); // without its pipe it ends, and all its processes
    } catch (IOException _) {
      // It has closed the pipe itself.
    }
    browser.destroy();
    browser.onExit().join();
  }
}
