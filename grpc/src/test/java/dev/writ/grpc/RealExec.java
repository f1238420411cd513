package dev.writ.grpc;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.Listen;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.host.Trees;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.tools.exec.ExecDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.UnaryOperator;

/** A server whose commands run in the real sandbox, by the real tool under the name exec_real. */
final class RealExec implements AutoCloseable {
  private final Path state;
  private final ProcessHost processes;
  final GrpcToolServer server;

  /**
   * @param commands that the developer may run, as a list of YAML
   * @param section the policy's section commands
   */
  RealExec(Path dir, UnaryOperator<SandboxSettings> with, String commands, String section)
      throws IOException {
    state = Files.createTempDirectory("grpc");
    Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwx--x--x"));
    SandboxSettings settings = with.apply(SandboxSettings.in(state.resolve("s")));
    processes = ProcessHost.open(settings, SecretStore.none());
    server = new GrpcToolServer(dir, Listen.loopback(0));
    SeedServer seed = server.seed;
    seed.home.tools.register(manifest());
    seed.home.drivers.add(seed.running.cancellable(new ExecDriver(processes)));
    seed.restart();
    seed.home.activate(
        SeedServer.POLICY
                .replace("  tools: [exec]\n", "  tools: [exec, exec_real]\n")
                .replace(
                    "    sandboxes: [box]\n",
                    "    sandboxes: [box, restricted]\n    commands: "
                        + commands
                        + "\n    paths: [.]\n")
                .replace(
                    "requirements:\n",
                    "requirements:\n"
                        + "  - { effect: { tool: exec_real }, require: { cel: 'true' } }\n")
            + section);
  }

  private static ToolManifest manifest() {
    JsonValue.Obj exec = BuiltinTools.manifest("exec", "1.0.0").orElseThrow().toJson();
    String json = new String(Jcs.write(exec), StandardCharsets.UTF_8);
    return ToolManifest.read(
        Jcs.parse(
            json.replace("\"name\":\"exec\"", "\"name\":\"exec_real\"")
                .getBytes(StandardCharsets.UTF_8)));
  }

  @Override
  public void close() {
    server.close();
    processes.close();
    Trees.remove(state);
  }
}
