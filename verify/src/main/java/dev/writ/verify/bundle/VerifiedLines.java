package dev.writ.verify.bundle;

import java.util.ArrayList;
import java.util.List;

/** What one verification tells: line by line what it verified, and what it could not. */
final class VerifiedLines {
  private final BundleVerifier.Listener listener;
  private final List<String> verified = new ArrayList<>();
  private final List<String> notVerified = new ArrayList<>();

  VerifiedLines(BundleVerifier.Listener listener) {
    this.listener = listener;
  }

  void verified(String line) {
    verified.add(line);
    listener.accept(line);
  }

  void notVerified(String line) {
    notVerified.add(line);
  }

  void progress(String what, long done, long total) {
    listener.progress(what, done, total);
  }

  List<String> verified() {
    return verified;
  }

  List<String> notVerified() {
    return notVerified;
  }
}
