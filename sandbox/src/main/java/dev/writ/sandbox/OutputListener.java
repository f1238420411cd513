package dev.writ.sandbox;

/** Gets output as it comes, from one thread for each stream; never more than is kept. */
@FunctionalInterface
public interface OutputListener {

  /** The streams of a process. */
  enum Stream {
    STDOUT,
    STDERR
  }

  /** Ignores it: the output is in {@link Ended} all the same. */
  OutputListener NONE = (stream, bytes) -> {};

  /** The next bytes of a stream; the array is the listener's own. */
  void output(Stream stream, byte[] bytes);
}
