package dev.writ.tools.language;

import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Tools that can be called cold and warm, on a host of the test's own. */
final class WarmLab implements AutoCloseable {
  private static final long AT_MOST_MS = 60_000;

  /** Projects of tools, which outlive the lab that made them. */
  private static Optional<TemporaryDirectory> projects = Optional.empty();

  private final Optional<TestHosts> hosts;
  private final ProcessHost host;
  final WarmPool pool;

  WarmLab(PoolSettings settings) {
    this(settings, Optional.empty());
  }

  WarmLab(PoolSettings settings, Optional<String> engine) {
    TestHosts own = TestHosts.open(SecretStore.none(), engine);
    hosts = Optional.of(own);
    host = own.host();
    pool = new WarmPool(host, settings);
  }

  /** On another's host. */
  WarmLab(ProcessHost host, PoolSettings settings) {
    this.hosts = Optional.empty();
    this.host = host;
    pool = new WarmPool(host, settings);
  }

  /** A tool with one operation. */
  final class Tool {
    private final ToolProject project;
    private final ToolManifest manifest;

    Tool(ToolProject project) {
      this.project = project;
      this.manifest = project.manifest();
    }

    ToolManifest manifest() {
      return manifest;
    }

    private Call call(WarmPool from, String text) {
      Driver driver = new LanguageDriver(adapter(project.source().language()), host, from);
      return new Call(driver.prepare(manifest, "count", f -> project.files().get(f.path())))
          .sandbox(manifest.sandboxes().getFirst())
          .memoryBytes(256L << 20)
          .params(JsonValue.object().put("text", text).build());
    }

    /** A call that finds no pool. */
    Call cold(String text) {
      return call(new WarmPool(host, PoolSettings.NONE), text);
    }

    /** A call that takes a worker if one waits. */
    Call asIs(String text) {
      return call(pool, text);
    }

    /** A call that a worker waits for. */
    DriverOutcome warm(String text) {
      return warm(asIs(text));
    }

    /** Waits until a worker waits for such a call. */
    void awaitOne(Call call) {
      if (pool.ready(manifest.packageDigest()) == 0) {
        call.run(); // which asks for one
      }
      await(f -> pool.ready(manifest.packageDigest()) > 0);
    }

    DriverOutcome warm(Call call) {
      awaitOne(call);
      long before = pool.figures().warm();
      DriverOutcome outcome = call.run();
      if (pool.figures().warm() != before + 1) {
        throw new AssertionError(pool.figures() + " " + Call.show(outcome));
      }
      return outcome;
    }
  }

  static LanguageAdapter adapter(Language language) {
    return switch (language.text()) {
      case "python" -> new PythonAdapter();
      case "node" -> new NodeAdapter();
      case "java" -> new JavaAdapter();
      case "process" -> new ExecutableAdapter();
      default -> throw new AssertionError(language + " is not pooled here");
    };
  }

  /** Gone with this JVM. */
  private static synchronized Path projects() throws IOException {
    if (projects.isEmpty()) {
      projects = Optional.of(TemporaryDirectory.create("warm-tools"));
    }
    return projects.get().path();
  }

  /**
   * A tool of a language.
   *
   * @param code of its entry file
   * @param edits to its {@code tool.manifest}
   */
  Tool tool(Language language, String code, String... edits) {
    try {
      Path folder = Files.createTempDirectory(projects(), "warm").resolve("my-tool");
      Templates.make(language, "my-tool", folder);
      Path file = folder.resolve("tool.manifest");
      String text = Files.readString(file);
      for (int i = 0; i < edits.length; i += 2) {
        if (!text.contains(edits[i])) {
          throw new AssertionError(edits[i]);
        }
        text = text.replace(edits[i], edits[i + 1]);
      }
      Files.writeString(file, text);
      Files.writeString(folder.resolve(ToolProject.open(folder).source().entry()), code);
      return new Tool(ToolProject.open(folder));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Tool python(String code) {
    return tool(Language.PYTHON, code);
  }

  /** A program that speaks the protocol itself, by {@code read()} and {@code write(frame)}. */
  Tool process(String code) {
    return tool(
        Language.PROCESS,
        """
        #!/usr/bin/python3 -I
        import json, os, struct, sys, time

        def read():
            (length,) = struct.unpack(">I", sys.stdin.buffer.read(4))
            return json.loads(sys.stdin.buffer.read(length))

        def write(frame):
            body = json.dumps({"protocol": 1, **frame}).encode()
            sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
            sys.stdout.buffer.flush()

        """
            + code);
  }

  /** Waits until the pool is so. */
  void await(Predicate<WarmPool.Figures> so) {
    try {
      if (!pool.await(so, AT_MOST_MS)) {
        throw new AssertionError("not in time: " + pool.figures());
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  Path state() {
    return hosts.orElseThrow().settings().stateDirectory();
  }

  /** All that a caller and an auditor are told, but measurements. */
  static TreeMap<String, String> said(DriverOutcome outcome) {
    TreeMap<String, String> said = new TreeMap<>();
    said.put("end", outcome.end().toString());
    said.put("reason", outcome.reason());
    said.put("message", outcome.message());
    said.put("output", outcome.output().map(o -> o.mediaType() + Call.text(outcome)).orElse("-"));
    said.put("stderr", String.valueOf(outcome.observations().get("stderr")));
    return said;
  }

  @Override
  public void close() {
    pool.close();
    hosts.ifPresent(TestHosts::close);
  }
}
