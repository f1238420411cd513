# What an access log in the common or combined format says. A line that is none is counted, and no more.
package Tool;
use strict;
use warnings;

my $LINE_CHARS_MAX = 8_192;
my $PATHS_MAX      = 50_000;
my $BYTES_MAX      = 9_000_000_000_000_000;

my $REQUEST = qr{
    \A \S+ [ ] \S+ [ ] [^\[]*? [ ] \[ [^\]]* \] [ ]
    "([A-Z]{1,20}) [ ] ([^\s"]+) (?: [ ] HTTP/[0-9.]+ )? " [ ]
    ([1-5][0-9]{2}) [ ] ([0-9]{1,15}|-) (?: [ ] | \z )
}x;

sub summarize {
    my ($input, $context) = @_;
    my @files = @{ $context->{inputs} };
    die "give the log as text, or as input files\n" if defined $input->{text} ? @files : !@files;
    my %sum = (requests => 0, bytes => 0, unread => 0, statuses => {}, methods => {});
    my %paths;
    if (defined $input->{text}) {
        one($_, \%sum, \%paths) for split /\n/, $input->{text};
    }
    for my $file (@files) {
        open my $log, '<:encoding(UTF-8)', $file or die "an input file cannot be read\n";
        no warnings 'utf8'; # bytes that are no text stand as \xHH
        while (defined(my $line = <$log>)) { one($line, \%sum, \%paths) }
    }
    my @top = sort { $paths{$b} <=> $paths{$a} || $a cmp $b } keys %paths;
    splice @top, $input->{top} // 10 if @top > ($input->{top} // 10);
    return { %sum, paths => [map { { path => $_, requests => $paths{$_} } } @top] };
}

sub one {
    my ($line, $sum, $paths) = @_;
    $line =~ s/\r?\n?\z//;
    return if $line eq '';
    if (length $line > $LINE_CHARS_MAX || $line !~ $REQUEST) {
        $sum->{unread}++;
        return;
    }
    my ($method, $path, $status, $bytes) = ($1, $2, $3, $4);
    $path =~ s/[?#].*//s; # what people searched for is nobody's business
    $sum->{requests}++;
    $sum->{bytes} += $bytes eq '-' ? 0 : $bytes;
    die "the sizes add up to more than a number holds\n" if $sum->{bytes} > $BYTES_MAX;
    $sum->{statuses}{$status}++;
    $sum->{methods}{$method}++;
    $paths->{$path}++;
    die "more than $PATHS_MAX paths\n" if keys %$paths > $PATHS_MAX;
}

1;
