package dev.writ.sinks.slack;

import dev.writ.canonicalize.WritException;
import dev.writ.sinks.feed.SinkSettings;
import dev.writ.sinks.notice.NoticeFeed;
import dev.writ.sinks.notice.NoticeText;
import dev.writ.sinks.post.PostSettings;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Where notices are posted. Whoever knows such an address may write there, so it comes from a
 * secret file and is shown nowhere.
 */
public record SlackSettings(PostSettings post, NoticeFeed feed, NoticeText text) {
  /**
   * @param url content of the secret file
   * @throws WritException {@code GWY-002}
   */
  public static SlackSettings of(SinkSettings settings, Path folder, Optional<String> url) {
    String address =
        url.orElseThrow(() -> settings.wrong("secret", "is missing: a file with the address"));
    SlackSettings made =
        new SlackSettings(
            PostSettings.of(settings, "secret", address, folder),
            NoticeFeed.of(settings),
            NoticeText.of(settings, ChatNames::plain));
    settings.end();
    return made;
  }

  /** The host alone. */
  @Override
  public String toString() {
    return post.url().getScheme() + "://" + post.url().getRawAuthority();
  }
}
