package dev.writ.sinks.mail;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sinks.error.RefusedForNow;
import dev.writ.sinks.error.SinkError;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkRecord;
import dev.writ.sinks.post.Poster;
import jakarta.mail.Address;
import jakarta.mail.AuthenticationFailedException;
import jakarta.mail.Message;
import jakarta.mail.MessagingException;
import jakarta.mail.Session;
import jakarta.mail.Transport;
import jakarta.mail.internet.MimeMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import javax.net.ssl.SSLHandshakeException;
import org.eclipse.angus.mail.smtp.SMTPAddressFailedException;
import org.eclipse.angus.mail.smtp.SMTPSendFailedException;

/** Sends each notice as a mail in plain text. A mail that is sent again has the same Message-ID. */
public final class MailSink implements RecordSink {
  private static final int REJECTED = 5; // first digit of permanent refusals (RFC 5321, 4.2.1)

  /** Mail servers lock an account after a few wrong attempts. */
  private static final Duration LOGIN_AGAIN = Duration.ofMinutes(10);

  private static final String UTF_8 = "UTF-8";

  private final MailSettings settings;
  private final Session session;
  private Transport transport;

  public MailSink(MailSettings settings) {
    this.settings = settings;
    this.session = Session.getInstance(properties(settings));
  }

  private static Properties properties(MailSettings settings) {
    Properties properties = new Properties();
    String wait = Long.toString(settings.answerWithin().toMillis());
    properties.put("mail.smtp.connectiontimeout", wait);
    properties.put("mail.smtp.timeout", wait);
    properties.put("mail.smtp.writetimeout", wait);
    properties.put("mail.smtp.usesocketchannels", "true"); // which an interrupt ends
    properties.put("mail.smtp.quitwait", "false"); // what was accepted is answered by then
    properties.put("mail.smtp.localhost", domain(settings));
    properties.put("mail.smtp.auth", Boolean.toString(settings.login().isPresent()));
    properties.put("mail.smtp.ssl.checkserveridentity", "true");
    properties.put("mail.smtp.ssl.protocols", "TLSv1.2 TLSv1.3");
    settings
        .authorities()
        .ifPresent(ssl -> properties.put("mail.smtp.ssl.socketFactory", ssl.getSocketFactory()));
    switch (settings.tls()) {
      case IMPLICIT -> properties.put("mail.smtp.ssl.enable", "true");
      case STARTTLS -> {
        properties.put("mail.smtp.starttls.enable", "true");
        properties.put("mail.smtp.starttls.required", "true");
      }
      case NONE -> {} // as it is
    }
    return properties;
  }

  private static String domain(MailSettings settings) {
    String from = settings.from().getAddress();
    return from.substring(from.lastIndexOf('@') + 1);
  }

  @Override
  public boolean knowsLast() {
    return false;
  }

  @Override
  public Optional<RecordId> open() {
    try {
      transport = session.getTransport("smtp");
      transport.connect(
          settings.host(),
          settings.port(),
          settings.login().map(MailSettings.Login::user).orElse(null),
          settings.login().map(MailSettings.Login::password).orElse(null));
      return Optional.empty();
    } catch (MessagingException e) {
      throw refusal(e);
    }
  }

  @Override
  public void deliver(List<SinkRecord> records) {
    for (SinkRecord notice : records) {
      try {
        transport.sendMessage(mail(notice), settings.to().toArray(new Address[0]));
      } catch (MessagingException e) {
        throw refusal(e);
      }
    }
  }

  private MimeMessage mail(SinkRecord notice) throws MessagingException {
    String log = Digest.sha256(notice.log().getBytes(StandardCharsets.UTF_8)).hex();
    String at = log.substring(0, 16) + "@" + domain(settings) + ">";
    MimeMessage mail =
        new MimeMessage(session) {
          @Override
          protected void updateMessageID() throws MessagingException {
            setHeader("Message-ID", "<" + notice.id() + "." + at);
          }
        };
    mail.setFrom(settings.from());
    mail.setRecipients(Message.RecipientType.TO, settings.to().toArray(new Address[0]));
    mail.setSubject(settings.text().subject(notice), UTF_8);
    mail.setSentDate(Date.from(notice.at()));
    mail.setHeader("References", "<" + thread(notice) + "." + at); // of one request, together
    mail.setHeader("Auto-Submitted", "auto-generated");
    mail.setText(String.join("\r\n", settings.text().lines(notice)) + "\r\n", UTF_8);
    mail.saveChanges();
    return mail;
  }

  private static String thread(SinkRecord notice) {
    return Digest.parse(notice.request()).hex().substring(0, 32);
  }

  /** What a server answers quotes the addresses of people, so only its number is told. */
  private WritException refusal(MessagingException e) {
    int status = status(e);
    if (e instanceof AuthenticationFailedException) {
      return new RefusedForNow(LOGIN_AGAIN, settings + " does not take the login", e);
    }
    if (status != 0) {
      SinkError code = status / 100 == REJECTED ? SinkError.REJECTED : SinkError.REFUSED;
      return new WritException(code, settings + " answered " + status, e);
    }
    boolean certificate = causedBy(e, SSLHandshakeException.class);
    return new WritException(
        certificate ? SinkError.CERTIFICATE : SinkError.UNREACHABLE,
        settings + ": " + Poster.innermost(e),
        e);
  }

  private static int status(MessagingException e) {
    for (Exception next = e; next instanceof MessagingException at; next = at.getNextException()) {
      if (at instanceof SMTPAddressFailedException of) {
        return of.getReturnCode();
      }
      if (at instanceof SMTPSendFailedException of && of.getReturnCode() > 0) {
        return of.getReturnCode();
      }
    }
    return 0;
  }

  private static boolean causedBy(Throwable e, Class<? extends Throwable> type) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (type.isInstance(cause)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    try {
      if (transport != null) {
        transport.close();
      }
    } catch (MessagingException e) {
      // The connection is gone, which is what was wanted.
    }
  }
}
