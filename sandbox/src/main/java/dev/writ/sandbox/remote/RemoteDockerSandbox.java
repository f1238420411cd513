package dev.writ.sandbox.remote;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.elsewhere.ElsewhereExecution;
import dev.writ.sandbox.elsewhere.ElsewhereSandbox;
import dev.writ.sandbox.elsewhere.ElsewhereScripts;
import dev.writ.sandbox.elsewhere.LiveSandboxes;
import dev.writ.sandbox.workspace.Workspace;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Runs each command in a container of its own; the workspace stays on this host between them. */
final class RemoteDockerSandbox extends ElsewhereSandbox {
  /** The most digits of a digest in a container's name. */
  private static final int NAME_DIGITS = 40;

  private final RemoteDockerEngine engine;

  /**
   * @param directory private to this sandbox
   */
  RemoteDockerSandbox(
      RemoteDockerEngine engine,
      LiveSandboxes all,
      SandboxSpec spec,
      Path directory,
      Workspace workspace) {
    super(all, RemoteDockerEngine.NAME, spec, directory, workspace);
    this.engine = engine;
  }

  @Override
  protected void requireAllowed(Command command) {
    super.requireAllowed(command);
    refuse(!command.egress().isEmpty(), "a network");
    refuse(!command.binds().isEmpty(), "files of this host");
    refuse(command.executables().isPresent(), "a list of executables: they are the image's");
  }

  /**
   * The container's name is made of the intent and of the command's number in its call, so that a
   * service runs it at most once, whoever asks.
   */
  @Override
  protected ElsewhereExecution launch(Command command, Launch launch) {
    RemoteService service = engine.service();
    String attempt = service.random();
    String name =
        spec()
            .intent()
            .map(digest -> digest.hex().substring(0, NAME_DIGITS) + "-" + launch.number())
            .orElse("x" + attempt);
    TreeMap<String, String> labels = new TreeMap<>();
    labels.put(ContainerForms.INSTALLATION, engine.installation());
    labels.put(ContainerForms.ATTEMPT, attempt);
    spec().intent().ifPresent(digest -> labels.put(ContainerForms.INTENT, digest.toString()));
    ContainerForms forms =
        new ContainerForms(
            spec().profile(),
            command.limits(),
            spec().freshBytes(),
            labels,
            "writ-" + attempt,
            engine.settings().startMs());
    Map<String, byte[]> files =
        new TreeMap<>(ElsewhereScripts.files(spec().profile(), command, command.argv(), Map.of()));
    files.put("in/look", ContainerScripts.lookFile(forms, spec().profile().tmpExec()));
    return new RemoteExecution(
        new RemoteExecution.Job(
            service,
            forms,
            "writ-" + name,
            attempt,
            service.image(engine.settings().helper()),
            service.image(spec().image().orElseThrow()),
            command,
            files,
            workspace(),
            spec().freshBytes(),
            launch.scratch(),
            engine.name() + " " + engine.report().version() + ", image " + spec().image().get(),
            engine.settings()),
        launch.listener(),
        launch.atEnd());
  }
}
