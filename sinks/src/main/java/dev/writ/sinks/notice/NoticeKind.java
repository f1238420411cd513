package dev.writ.sinks.notice;

import dev.writ.guardian.document.Verdict;

/** What a notice tells of a request. */
enum NoticeKind {
  WAITING("waiting"),
  ALLOWED("allowed"),
  DENIED("denied");

  private final String word;

  NoticeKind(String word) {
    this.word = word;
  }

  String word() {
    return word;
  }

  static NoticeKind of(Verdict verdict) {
    return switch (verdict) {
      case ESCALATE -> WAITING;
      case ALLOW -> ALLOWED;
      case DENY -> DENIED;
    };
  }
}
