import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.imageio.ImageIO;
import javax.imageio.ImageReadParam;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;

/**
 * A small PNG of a large PNG or JPEG. The size that a file claims is looked at before anything of
 * it is decoded, and only every n-th pixel is kept while it is, so that a small file cannot ask for
 * much memory.
 */
public final class Tool {
  private static final long FILE_BYTES_MAX = 32L << 20;
  private static final int SIDE_MAX = 20_000;
  private static final long PIXELS_MAX = 64_000_000;
  private static final List<String> FORMATS = List.of("png", "jpeg");

  private Tool() {}

  public static Object thumbnail(Map<String, Object> input, Map<String, Object> context)
      throws IOException {
    int size = ((Number) input.get("size")).intValue();
    List<?> files = (List<?>) context.get("inputs");
    if (files.size() != 1) {
      throw new IllegalArgumentException(files.size() + " input files; one picture at a time");
    }
    Path file = Path.of((String) files.getFirst());
    if (Files.size(file) > FILE_BYTES_MAX) {
      throw new IllegalArgumentException("the picture has more than " + FILE_BYTES_MAX + " bytes");
    }
    ImageIO.setUseCache(false);
    try (ImageInputStream in = ImageIO.createImageInputStream(file.toFile())) {
      return thumbnail(in, size, Path.of((String) context.get("artifacts"), "thumbnail.png"));
    }
  }

  private static Map<String, Object> thumbnail(ImageInputStream in, int size, Path to)
      throws IOException {
    Iterator<ImageReader> readers = ImageIO.getImageReaders(in);
    if (!readers.hasNext()) {
      throw new IllegalArgumentException("the file is no picture that is known here");
    }
    ImageReader reader = readers.next();
    try {
      String format = reader.getFormatName().toLowerCase(Locale.ROOT);
      if (!FORMATS.contains(format)) {
        throw new IllegalArgumentException("the picture is " + format + ", not one of " + FORMATS);
      }
      reader.setInput(in, true, true);
      int width = reader.getWidth(0);
      int height = reader.getHeight(0);
      if (width < 1
          || height < 1
          || Math.max(width, height) > SIDE_MAX
          || (long) width * height > PIXELS_MAX) {
        throw new IllegalArgumentException(
            "the picture says that it is " + width + " by " + height);
      }
      BufferedImage small = scaled(decoded(reader, width, height, size), width, height, size);
      if (!ImageIO.write(small, "png", to.toFile())) {
        throw new IOException("there is no writer of PNG");
      }
      Map<String, Object> result = new TreeMap<>();
      result.put("format", format);
      result.put("source_width", width);
      result.put("source_height", height);
      result.put("width", small.getWidth());
      result.put("height", small.getHeight());
      return result;
    } catch (IOException | RuntimeException e) {
      if (e instanceof IllegalArgumentException) {
        throw e;
      }
      throw new IllegalArgumentException("the picture cannot be decoded: " + e.getMessage(), e);
    } finally {
      reader.dispose();
    }
  }

  /** At least twice as large as it has to be, where the source is: then it is scaled well. */
  private static BufferedImage decoded(ImageReader reader, int width, int height, int size)
      throws IOException {
    ImageReadParam param = reader.getDefaultReadParam();
    int step = Math.max(1, Math.max(width, height) / (2 * size));
    param.setSourceSubsampling(step, step, 0, 0);
    return reader.read(0, param);
  }

  private static BufferedImage scaled(BufferedImage from, int width, int height, int size) {
    double factor = Math.min(1, (double) size / Math.max(width, height));
    int toWidth = Math.max(1, (int) Math.round(width * factor));
    int toHeight = Math.max(1, (int) Math.round(height * factor));
    BufferedImage to = new BufferedImage(toWidth, toHeight, BufferedImage.TYPE_INT_ARGB);
    Graphics2D graphics = to.createGraphics();
    graphics.setRenderingHint(
        RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
    graphics.drawImage(from, 0, 0, toWidth, toHeight, null);
    graphics.dispose();
    return to;
  }
}
