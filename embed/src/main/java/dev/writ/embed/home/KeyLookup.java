package dev.writ.embed.home;

import dev.writ.embed.signer.SshAgent;
import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where private keys are looked for beside the home.
 *
 * @param folders for keys of people and agents; none to look where the home's settings say
 * @param agent for keys whose secret half is in no file
 */
public record KeyLookup(List<Path> folders, SshAgent agent) {
  /** Where the home's settings say, and in no agent. */
  public static final KeyLookup NONE = new KeyLookup(List.of(), new SshAgent(Optional.empty()));

  public KeyLookup {
    folders = List.copyOf(folders);
  }

  /** What WRIT_KEYS and SSH_AUTH_SOCK say. */
  public static KeyLookup of(Map<String, String> environment) {
    return new KeyLookup(
        Arrays.stream(environment.getOrDefault("WRIT_KEYS", "").split(File.pathSeparator))
            .filter(folder -> !folder.isEmpty())
            .map(folder -> Path.of(folder).toAbsolutePath().normalize())
            .toList(),
        new SshAgent(
            Optional.of(environment.getOrDefault("SSH_AUTH_SOCK", ""))
                .filter(socket -> !socket.isEmpty())
                .map(Path::of)));
  }
}
