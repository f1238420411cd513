package dev.writ.cli.command.tool;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.policy.PolicyImages;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Terminal;
import dev.writ.guardian.policy.Policy;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.ImageTag;
import dev.writ.sandbox.docker.ApiClient;
import dev.writ.sandbox.docker.LocalImages;
import dev.writ.sandbox.docker.Sockets;
import dev.writ.sandbox.error.SandboxError;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** {@code writ image}: the images in which a policy lets commands run. */
public final class ImageCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("image", "Fetch the images of a policy's commands, and pin them.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Pin(), new Pull());
  }

  private static ApiClient service(Session session) {
    return Sockets.look(session.environment()).stream()
        .findFirst()
        .map(ApiClient::at)
        .orElseThrow(() ->
            new WritException(
                SandboxError.ENGINE_MISSING,
                "no service of docker or podman: systemctl enable --now podman.socket"));
  }

  private static boolean isPinned(String image) {
    return image.contains("@");
  }

  /** Images, by the program that runs in each or by the name that they had. */
  private record Images(String what, SortedMap<String, String> images) implements Report {
    @Override
    public JsonValue toJson() {
      var json = JsonValue.object();
      images.forEach(json::put);
      return JsonValue.object().put(what, json.build()).build();
    }

    private static void print(Images all, Terminal terminal) {
      all.images.forEach(
          (name, image) -> terminal.out().println(all.what + "  " + name + "  " + image));
    }
  }

  /** {@code writ image pin}. */
  static final class Pin implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "pin",
              "Write the digest of each image into a policy in place of its tag.",
              "A tag can be moved to another image, so a command whose image is named by one does"
                  + " not run. What a tag names is looked up on this host: in the service of"
                  + " podman or docker that runs the images, or in an OCI image layout. The"
                  + " policy is not activated.")
          .argument("FILE", "A policy in YAML or JSON; it is changed, its comments stay.")
          .option("--layout", "DIR", "Look tags up in this OCI image layout.")
          .option("--out", "FILE", "Write the policy here instead; needed where FILE is \"-\".");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String file = arguments.argument("FILE");
      if (file.equals("-") && !arguments.has("--out")) {
        throw new WritException(CliError.USAGE, "FILE is \"-\": name another with --out");
      }
      byte[] text = session.read(file);
      LocalImages local =
          arguments
              .option("--layout")
              .map(directory -> LocalImages.layout(Path.of(directory)))
              .orElseGet(() -> LocalImages.of(service(session)));
      TreeMap<String, String> pinned = new TreeMap<>();
      PolicyImages.of(Policy.parse(text, file))
          .forEach((program, image) -> {
            if (!isPinned(image)) {
              pinned.put(program, local.pinned(ImageTag.parse(image)).toString());
            }
          });
      String changed = PolicyImages.with(new String(text, StandardCharsets.UTF_8), file, pinned);
      byte[] after = changed.getBytes(StandardCharsets.UTF_8);
      arguments
          .option("--out")
          .map(Path::of)
          .ifPresentOrElse(
              out -> PolicyImages.write(out, after),
              () -> PolicyImages.update(Path.of(file), text, after));
      session.show(new Images("pinned", pinned), Images::print);
      return ExitCode.OK;
    }
  }

  /** {@code writ image pull}. */
  static final class Pull implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "pull",
              "Have the service of podman or docker fetch the images that a policy names.",
              "By digest where the policy has one. The service has the registries, their"
                  + " certificates and the credentials.")
          .argument("FILE", "A policy in YAML or JSON.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String file = arguments.argument("FILE");
      ApiClient client = service(session);
      TreeMap<String, String> pulled = new TreeMap<>();
      for (String image :
          new TreeSet<>(PolicyImages.of(Policy.parse(session.read(file), file)).values())) {
        pulled.put(image, pull(client, image).toString());
      }
      session.show(new Images("pulled", pulled), Images::print);
      return ExitCode.OK;
    }

    private static ImageReference pull(ApiClient client, String image) {
      if (!isPinned(image)) {
        ImageTag tag = ImageTag.parse(image);
        client.pull(tag.name(), tag.tag());
        return LocalImages.of(client).pinned(tag);
      }
      ImageReference reference = ImageReference.parse(image);
      client.pull(reference.name(), reference.digest().toString());
      return client
          .image(reference.toString())
          .filter(found -> found.is(reference))
          .map(_ -> reference)
          .orElseThrow(
              () -> new WritException(SandboxError.IMAGE, reference + " is not what was pulled"));
    }
  }
}
