package dev.writ.cli.setup;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * An MCP server as a client's configuration, or a registry, describes it.
 *
 * @param name as it stands there
 * @param path names that lead to its entry in the file; none where there is no entry to replace
 * @param command the program and its arguments; none for a server elsewhere
 * @param environment variables, with placeholders as they stand there
 * @param secret names of variables and headers that the file declares to be secret
 * @param url of a server elsewhere
 * @param refusal why it cannot be taken, whatever else it says
 * @param left whether that is as it should be: nobody wants it taken
 */
public record ConfiguredServer(
    String name,
    List<String> path,
    List<String> command,
    SortedMap<String, String> environment,
    List<String> secret,
    Optional<String> url,
    SortedMap<String, String> headers,
    Optional<String> refusal,
    boolean left) {
  public ConfiguredServer {
    path = List.copyOf(path);
    command = List.copyOf(command);
    environment = Collections.unmodifiableSortedMap(new TreeMap<>(environment));
    secret = List.copyOf(new TreeSet<>(secret));
    headers = Collections.unmodifiableSortedMap(new TreeMap<>(headers));
  }

  static ConfiguredServer refused(String name, String why) {
    return new ConfiguredServer(
        name,
        List.of(),
        List.of(),
        new TreeMap<>(),
        List.of(),
        Optional.empty(),
        new TreeMap<>(),
        Optional.of(why),
        false);
  }
}
