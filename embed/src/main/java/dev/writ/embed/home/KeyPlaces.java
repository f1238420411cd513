package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.embed.error.EmbedError;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The folders in which the private keys of an installation are looked for (spec/keys.md, "Where a
 * private key is"): what the server signs with lies in the home, the keys of people and agents in
 * the home or elsewhere.
 */
public final class KeyPlaces {
  /** Where the settings of a home name the folders. */
  static final String MEMBER = "keys";

  /** The end of the name of a key file. */
  static final String PEM = ".pem";

  /** The roles whose keys a server signs with. */
  private static final List<KeyRole> SERVERS =
      List.of(KeyRole.GUARDIAN, KeyRole.EXECUTOR, KeyRole.LOG, KeyRole.SURFACE);

  /** Of more folders the oldest is forgotten. */
  private static final int FOLDERS_MAX = 16;

  private final Home home;

  KeyPlaces(Home home) {
    this.home = home;
  }

  /** Whether a key of this role is one that a server signs with, and stays in its home. */
  public static boolean isServers(KeyRole role) {
    return SERVERS.contains(role);
  }

  /** Whether a key may be made under this name: it is its file's, too. */
  public static boolean isName(String name) {
    // One that ends with .next would be taken for a kernel's key that waits.
    return name.matches("[A-Za-z0-9._-]+") && !name.startsWith(".") && !name.endsWith(".next");
  }

  /** Whether a key is named by its file. */
  static boolean isFile(String key) {
    return key.contains("/") || key.contains(File.separator);
  }

  /** Whether only the home is looked into for a key of this name. */
  private static boolean isKernels(String name) {
    return RotatedKeys.ROLES.stream().anyMatch(role -> role.text().equals(name));
  }

  /** The folders for keys of people and agents, the first to be looked into first. */
  public List<Path> folders() {
    List<Path> folders =
        new ArrayList<>(home.lookup().folders().isEmpty() ? recorded() : home.lookup().folders());
    folders.add(home.keys());
    return folders;
  }

  /**
   * The file of a key.
   *
   * @throws WritException {@code CLI-024} where it is in none of the folders
   */
  Path find(String name) {
    if (isKernels(name)) {
      return home.keyFile(name);
    }
    List<Path> folders = folders();
    return folders.stream()
        .map(folder -> folder.resolve(name + PEM))
        .filter(file -> Files.exists(file, LinkOption.NOFOLLOW_LINKS))
        .findFirst()
        .orElseThrow(() ->
            new WritException(
                EmbedError.KEY_ELSEWHERE,
                name
                    + PEM
                    + " is not in "
                    + folders.stream().map(KeyPlaces::shown).collect(Collectors.joining(", "))));
  }

  private static String shown(Path folder) {
    return Files.isDirectory(folder) ? folder.toString() : folder + " (no folder here)";
  }

  /** Where a new key of that name and role is written. */
  public Path fileOfNew(String name, KeyRole role) {
    return isServers(role) ? home.keyFile(name) : folders().getFirst().resolve(name + PEM);
  }

  /** The folders that the home's settings name; none where there are no settings yet. */
  List<Path> recorded() {
    if (!home.exists()) {
      return List.of();
    }
    return home.setting(
            fields -> fields.optional(MEMBER, key -> fields.list(key, Fields::stringItem)))
        .map(names -> names.stream().map(Path::of).toList())
        .orElse(List.of());
  }

  /** Has a folder looked into from now on, before those that were named earlier. */
  void record(Path folder, DurableFiles disk) throws IOException {
    List<Path> all = new ArrayList<>(recorded());
    all.remove(folder);
    all.addFirst(folder);
    if (all.equals(recorded())) {
      return;
    }
    JsonValue.Obj before = (JsonValue.Obj) home.settingsNow();
    disk.replace(
        home.settings(),
        Jcs.write(with(before, all.subList(0, Math.min(all.size(), FOLDERS_MAX)))));
  }

  /** Settings that name these folders. */
  static JsonValue.Obj with(JsonValue.Obj settings, List<Path> folders) {
    var builder = JsonValue.object();
    settings
        .members()
        .forEach((name, value) -> {
          if (!name.equals(MEMBER)) {
            builder.put(name, value);
          }
        });
    return builder.putList(MEMBER, folders, folder -> JsonValue.of(folder.toString())).build();
  }
}
