package dev.writ.tools.author;

import java.util.List;
import java.util.SortedMap;

/** Finds what the code of one language refers to, with a real parser of that language. */
public interface Scanner {
  /**
   * Everything that the sources of a package import, load or call in order to load.
   *
   * @throws dev.writ.canonicalize.WritException {@code TOL-210} where a file is no program of the
   *     language, {@code SBX-0xx} where the parser must run confined and cannot
   */
  List<Reference> scan(SortedMap<String, byte[]> files);
}
