package dev.writ.sandbox;

/** Gets output while it is written, from one thread for each stream; never more than is kept. */
@FunctionalInterface
public interface OutputListener {

  /** The streams of a process. */
  enum Stream {
    STDOUT,
    STDERR
  }

  /** Ignores output, which is in {@link Ended} as well. */
  OutputListener NONE = (stream, bytes) -> {};

  /** Gets the next bytes of a stream; the listener may keep the array. */
  void output(Stream stream, byte[] bytes);
}
