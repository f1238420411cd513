package dev.writ.tools.language;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.tools.author.Reference;
import dev.writ.tools.author.ScanAnswer;
import dev.writ.tools.author.Scanner;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessHost;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicLong;

/** Python, parsed by the host's own parser in a sandbox, since the code is untrusted. */
public final class PythonScanner implements Scanner {
  private static final String SCRIPT = "scan.py";
  private static final AtomicLong SERIAL = new AtomicLong();

  private final ProcessHost host;

  public PythonScanner(ProcessHost host) {
    this.host = host;
  }

  @Override
  public List<Reference> scan(SortedMap<String, byte[]> files) {
    Path scripts = host.sharedFiles(WorkerScripts.of(List.of(SCRIPT)));
    Command command =
        Command.of("/usr/bin/python3", "-I", "-S", "-B", LanguageAdapter.WORKERS + "/" + SCRIPT)
            .withExecutables(List.of("/usr/bin/python3"))
            .withBinds(List.of(new Bind(scripts, LanguageAdapter.WORKERS)))
            .withLimits(CgroupLimits.STANDARD)
            .withStdin(Jcs.write(ScanAnswer.question(files)));
    SandboxSpec spec =
        SandboxSpec.of("scan-" + SERIAL.incrementAndGet(), Profile.named("restricted"));
    Ended ended;
    try (Sandbox sandbox = host.engine().create(spec)) {
      ended = sandbox.exec(command);
    }
    if (!ended.succeeded()) {
      throw new WritException(
          ToolsError.SOURCE_UNREADABLE, "the parser ended by " + ended.reason().text());
    }
    return ScanAnswer.read(ended.stdout().bytes());
  }
}
