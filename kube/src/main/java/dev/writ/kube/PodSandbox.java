package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.ProgramImage;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.egress.EgressGate;
import dev.writ.sandbox.egress.EgressProxy;
import dev.writ.sandbox.elsewhere.ElsewhereExecution;
import dev.writ.sandbox.elsewhere.ElsewhereSandbox;
import dev.writ.sandbox.elsewhere.ElsewhereScripts;
import dev.writ.sandbox.elsewhere.LiveSandboxes;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.Workspace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Runs each command in a pod of its own; the workspace stays on this host between them. */
final class PodSandbox extends ElsewhereSandbox {
  private final KubernetesEngine engine;

  /**
   * @param directory private to this sandbox
   */
  PodSandbox(
      KubernetesEngine engine,
      LiveSandboxes all,
      SandboxSpec spec,
      Path directory,
      Workspace workspace) {
    super(all, KubernetesEngine.NAME, spec, directory, workspace);
    this.engine = engine;
  }

  @Override
  protected ElsewhereExecution launch(Command command, Launch launch) {
    Runs runs = runs(command);
    Optional<EgressGate.Pass> pass = Optional.empty();
    try {
      Map<String, byte[]> files = new TreeMap<>(BoundFiles.of(command.binds()));
      pass = pass(command);
      files.putAll(ElsewhereScripts.files(spec().profile(), command, runs.argv(), variables(pass)));
      return new PodExecution(
          new PodExecution.Job(
              engine.cluster(),
              engine.form(spec(), runs.image(), command, launch.number()),
              command,
              files,
              pass,
              workspace(),
              spec().freshBytes(),
              launch.scratch(),
              engine.name() + " " + engine.report().version() + ", image " + runs.image(),
              engine.startMs()),
          launch.listener(),
          launch.atEnd());
    } catch (RuntimeException e) {
      pass.ifPresent(EgressGate.Pass::close);
      throw e;
    }
  }

  /** The image and the words of a command. */
  private record Runs(ImageReference image, List<String> argv) {}

  /**
   * The image that was named, or that of the program, which is found there by its name: its path is
   * one of this host.
   */
  private Runs runs(Command command) {
    if (spec().image().isPresent()) {
      return new Runs(spec().image().get(), command.argv());
    }
    String name = program(command);
    ImageReference image =
        engine.imageOf(name).map(ProgramImage::image).orElseThrow(() -> noImage(name));
    List<String> argv = new ArrayList<>(command.argv());
    argv.set(0, name);
    return new Runs(image, List.copyOf(argv));
  }

  private static String program(Command command) {
    String program = command.argv().getFirst();
    return program.substring(program.lastIndexOf('/') + 1);
  }

  private WritException noImage(String program) {
    return new WritException(
        SandboxError.UNSUPPORTED,
        engine.name() + " has no image for " + program + " (programs of its settings)");
  }

  @Override
  protected void requireAllowed(Command command) {
    super.requireAllowed(command);
    refuse(
        !command.egress().isEmpty() && engine.egress().isEmpty(),
        "a network, since its settings name no proxy");
    if (spec().image().isPresent()) {
      refuse(command.executables().isPresent(), "a list of executables: they are the image's");
    } else if (engine.imageOf(program(command)).isEmpty()) {
      throw noImage(program(command));
    }
  }

  private Optional<EgressGate.Pass> pass(Command command) {
    return command.egress().isEmpty()
        ? Optional.empty()
        : Optional.of(engine.egress().orElseThrow().admit(command));
  }

  private Map<String, String> variables(Optional<EgressGate.Pass> pass) {
    return pass.map(p -> EgressProxy.variables(engine.egress().orElseThrow().url(p)))
        .orElseGet(TreeMap::new);
  }
}
