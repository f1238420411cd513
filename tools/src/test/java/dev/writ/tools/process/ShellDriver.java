package dev.writ.tools.process;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** The smallest process tool: a line for the shell. */
final class ShellDriver extends ProcessDriver {
  ShellDriver(ProcessHost host) {
    super("shell", Digest::sha256, host);
  }

  static ToolManifest manifest(boolean workspace) {
    return new ToolManifest(
        "shell",
        "1.0.0",
        "shell",
        Determinism.RECORDED,
        List.of(
            new ToolManifest.Operation(
                "run", JsonValue.object().build(), Optional.empty(), StandardOutput.MEDIA_TYPE)),
        new ToolManifest.Capabilities(List.of(), List.of(), List.of(), workspace),
        new Resources(60_000, 1L << 30, 1 << 24, 60_000),
        List.of("default"),
        List.of());
  }

  @Override
  protected Program program(
      ToolManifest manifest, ToolManifest.Operation operation, PackageContent content) {
    return call -> {
      call.copyInputs("in");
      String line = ((JsonValue.Str) call.params().get("line")).value();
      Command command = call.command(List.of("/bin/sh", "-c", line));
      if (call.params().get("pids") instanceof JsonValue.Num pids) {
        command = command.withLimits(call.limits().withPids((long) pids.value()));
      }
      Ended ended = call.exec(command);
      return call.end(ended, () -> StandardOutput.of(call, ended, new TreeMap<>()));
    };
  }
}
