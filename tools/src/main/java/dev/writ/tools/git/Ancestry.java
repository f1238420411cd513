package dev.writ.tools.git;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Proves that one commit descends from another. Git takes it from the repository, whose files an
 * agent can write: a commit with other parents under the id of a real one, or a commit-graph that
 * says so. Here each commit on the way must have the id that its content gives.
 */
final class Ancestry {
  private Ancestry() {}

  /**
   * The shortest way from a commit to its ancestor, without the ancestor; empty if there is none.
   *
   * @param parents the output of {@code git rev-list --parents}
   */
  static List<String> path(String parents, String descendant, String ancestor) {
    Map<String, List<String>> above = new HashMap<>();
    parents
        .lines()
        .map(line -> List.of(line.split(" ")))
        .forEach(ids -> above.put(ids.getFirst(), ids.subList(1, ids.size())));
    Map<String, String> below = new HashMap<>();
    Deque<String> next = new ArrayDeque<>(List.of(descendant));
    below.put(descendant, "");
    while (!next.isEmpty() && !below.containsKey(ancestor)) {
      String commit = next.remove();
      for (String parent : above.getOrDefault(commit, List.of())) {
        if (below.putIfAbsent(parent, commit) == null) {
          next.add(parent);
        }
      }
    }
    List<String> path = new ArrayList<>();
    for (String at = below.getOrDefault(ancestor, ""); !at.isEmpty(); at = below.get(at)) {
      path.addFirst(at);
    }
    return path;
  }

  /**
   * Whether each commit of a way has its id and names the next one as a parent, the last one the
   * ancestor.
   *
   * @param commits the output of {@code git cat-file --batch} for the way
   */
  static boolean proves(byte[] commits, List<String> path, String ancestor) {
    int at = 0;
    for (int i = 0; i < path.size(); i++) {
      String parent = i + 1 < path.size() ? path.get(i + 1) : ancestor;
      int end = lineEnd(commits, at);
      String[] head = text(commits, at, end).split(" ", -1);
      if (head.length != 3 || !head[1].equals("commit") || !head[2].matches("[0-9]{1,9}")) {
        return false;
      }
      int from = end + 1;
      int to = from + Integer.parseInt(head[2]);
      if (to > commits.length || !isCommit(commits, from, to, path.get(i), parent)) {
        return false;
      }
      at = to + 1;
    }
    return !path.isEmpty();
  }

  private static boolean isCommit(byte[] all, int from, int to, String id, String parent) {
    return id(Arrays.copyOfRange(all, from, to), id.length()).equals(id)
        && parents(text(all, from, to)).contains(parent);
  }

  /** A commit begins with its tree, and its parents follow, each on a line. */
  private static List<String> parents(String commit) {
    return commit
        .lines()
        .skip(1)
        .takeWhile(line -> line.startsWith("parent "))
        .map(line -> line.substring("parent ".length()))
        .toList();
  }

  private static String id(byte[] commit, int digits) {
    try {
      MessageDigest hash = MessageDigest.getInstance(digits == 40 ? "SHA-1" : "SHA-256");
      hash.update(("commit " + commit.length + "\0").getBytes(StandardCharsets.US_ASCII));
      return HexFormat.of().formatHex(hash.digest(commit));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every JDK has both
    }
  }

  private static int lineEnd(byte[] bytes, int from) {
    int at = from;
    while (at < bytes.length && bytes[at] != '\n') {
      at++;
    }
    return at;
  }

  private static String text(byte[] bytes, int from, int to) {
    int start = Math.min(from, bytes.length);
    return new String(bytes, start, to - start, StandardCharsets.ISO_8859_1);
  }
}
