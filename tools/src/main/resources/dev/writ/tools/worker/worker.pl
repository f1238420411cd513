# Runs one operation of a Perl tool: the worker side of the protocol in spec/tool-package.md.
# Arguments: the entry file, the folder of the package. What the tool prints goes to standard error.
# It needs nothing beside perl-base, so it has the little of JSON that a worker needs itself.
use strict;
use warnings;

# true and false of JSON: they test as such, print as 1 and 0, and are written as what they were.
package Writ::Boolean;
use overload 'bool' => sub { ${ $_[0] } }, '""' => sub { ${ $_[0] } }, '0+' => sub { ${ $_[0] } }, fallback => 1;
our $TRUE  = do { my $one  = 1; bless \$one,  __PACKAGE__ };
our $FALSE = do { my $zero = 0; bless \$zero, __PACKAGE__ };

package main;
no warnings 'recursion';

my $PROTOCOL = 1;
open(my $frames_in,  '<&', \*STDIN)  or die "stdin: $!";
open(my $frames_out, '>&', \*STDOUT) or die "stdout: $!";
binmode $_ for $frames_in, $frames_out;
open(STDIN, '<', '/dev/null') or die "null: $!";
open(STDOUT, '>&', \*STDERR) or die "stderr: $!";
binmode $_, ':utf8' for \*STDOUT, \*STDERR;
$| = 1;

my %ESCAPED = ('"' => '\\"', '\\' => '\\\\');
my %ESCAPES = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");

sub decode {
    my ($text) = @_;
    utf8::decode($text) or die "a frame is not UTF-8\n";
    return value(\$text);
}

sub value {
    my ($text) = @_;
    $$text =~ /\G[ \t\r\n]+/gc;
    return string($text) if $$text =~ /\G"/gc;
    if ($$text =~ /\G\{/gc) {
        my %members;
        until ($$text =~ /\G[ \t\r\n,]*\}/gc) {
            $$text =~ /\G[ \t\r\n,]*"/gc or die "a frame is no JSON\n";
            my $name = string($text);
            $$text =~ /\G[ \t\r\n]*:/gc or die "a frame is no JSON\n";
            $members{$name} = value($text);
        }
        return \%members;
    }
    if ($$text =~ /\G\[/gc) {
        my @items;
        until ($$text =~ /\G[ \t\r\n,]*\]/gc) {
            $$text =~ /\G[ \t\r\n,]+/gc;
            push @items, value($text);
        }
        return \@items;
    }
    return 0 + $1 if $$text =~ /\G(-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)/gc;
    return $Writ::Boolean::TRUE if $$text =~ /\Gtrue/gc;
    return $Writ::Boolean::FALSE if $$text =~ /\Gfalse/gc;
    return undef if $$text =~ /\Gnull/gc;
    die "a frame is no JSON\n";
}

sub string {
    my ($text) = @_;
    my $string = '';
    while (1) {
        # In bounded pieces: the engine of regular expressions counts in 16 bits.
        if    ($$text =~ /\G([^"\\]{1,30000})/gc)  { $string .= $1 }
        elsif ($$text =~ /\G"/gc)                  { return $string }
        elsif ($$text =~ /\G\\u([0-9a-fA-F]{4})/gc) { $string .= chr hex $1 }
        elsif ($$text =~ /\G\\(.)/gcs)             { $string .= $ESCAPES{$1} // $1 }
        else                                       { die "a frame is no JSON\n" }
    }
}

sub encode {
    my ($value, $out) = @_;
    if (!defined $value) { $$out .= 'null' }
    elsif (ref $value eq 'HASH') {
        my $between = '{';
        for my $name (sort keys %$value) {
            $$out .= $between;
            quote($name, $out);
            $$out .= ':';
            encode($value->{$name}, $out);
            $between = ',';
        }
        $$out .= $between eq '{' ? '{}' : '}';
    }
    elsif (ref $value eq 'ARRAY') {
        my $between = '[';
        for my $item (@$value) {
            $$out .= $between;
            encode($item, $out);
            $between = ',';
        }
        $$out .= $between eq '[' ? '[]' : ']';
    }
    elsif (ref $value eq 'Writ::Boolean' || ref $value eq 'SCALAR') { $$out .= $$value ? 'true' : 'false' }
    elsif (ref $value) { die 'JSON has no ' . ref($value) . "\n" }
    elsif (is_number($value)) { $$out .= number($value) }
    else                      { quote($value, $out) }
}

# A scalar that was a number when it was made, and still reads as one.
sub is_number {
    my ($value) = @_;
    return '' if $value =~ /[^0-9A-Za-z.+-]/;
    no warnings 'numeric';
    return length((my $empty = '') & $value) && 0 + $value eq $value;
}

sub number {
    my ($value) = @_;
    die "JSON has no $value\n" if $value * 0 != 0;
    return "$value" if $value =~ /\A-?[0-9]{1,15}\z/;
    for my $digits (15, 16) {
        my $short = sprintf "%.${digits}g", $value;
        return $short if $short == $value;
    }
    return sprintf '%.17g', $value;
}

sub quote {
    my ($text, $out) = @_;
    my $string = "$text";
    $string =~ s/(["\\])/$ESCAPED{$1}/g;
    $string =~ s/([\x00-\x1f])/sprintf '\\u%04x', ord $1/ge;
    $$out .= "\"$string\"";
}

sub frame {
    my (%members) = @_;
    my $body = '';
    encode({ protocol => $PROTOCOL, %members }, \$body);
    utf8::encode($body);
    print {$frames_out} pack('N', length $body) . $body;
    close $frames_out or die "frames: $!" if $members{kind} ne 'ready';
    $frames_out->flush if $members{kind} eq 'ready';
}

# Bytes as base64, without the module for it: perl-base has pack.
sub base64 {
    my ($bytes) = @_;
    utf8::encode($bytes) if utf8::is_utf8($bytes);
    my $text = '';
    while ($bytes =~ /\G(.{1,45})/gcs) {
        my $piece = $1;
        (my $line = substr pack('u', $piece), 1) =~ tr{` -_\n}{AA-Za-z0-9+/}d;
        substr($line, -$_) = '=' x $_ for grep { $_ } (3 - length($piece) % 3) % 3;
        $text .= $line;
    }
    return $text;
}

sub fail {
    my ($incident, $error) = @_;
    $error = defined $error && length $error ? "$error" : 'it failed without a word';
    print STDERR "$error\n";
    frame(kind => 'incident', incident => $incident, message => substr $error, 0, 500);
    leave();
}

# Without the tool's END blocks and destructors: the call is over.
sub leave {
    require POSIX;
    POSIX::_exit(0);
}

# A module of the package: its source, in UTF-8. Where a folder stands in @INC itself, Perl would take what was
# compiled before (.pmc) in the place of a source.
sub source {
    my (undef, $file) = @_;
    return if $file !~ /\.p[lm]\z/;
    our ($beside, $package);
    my @places = ("$beside/$file", "$package/vendor/$file");
    push @places, $0 =~ s{[^/]*\z}{$file}r if $file eq 'WritHelpers.pm';    # the platform's own
    for my $path (@places) {
        open(my $source, '<:raw', $path) or next;
        my $text = do { local $/; <$source> };
        utf8::decode($text) or die "$path is not UTF-8\n";
        seek $source, 0, 0;
        $INC{$file} = $path;
        return (\"#line 1 \"$path\"\n", $source);
    }
    return;
}

sub all_of {
    my ($length) = @_;
    my $bytes = '';
    while (length $bytes < $length) {
        my $got = read $frames_in, $bytes, $length - length $bytes, length $bytes;
        leave() unless $got;
    }
    return $bytes;
}

use IO::Handle ();
our ($beside, $package);
(my $entry, $package) = @ARGV;
@ARGV = ();
($beside = "$package/$entry") =~ s{/[^/]*\z}{};
@INC = (
    \&source,
    grep { m{\A/usr/(?:lib/[^/]+/perl-base|lib/[^/]+/perl/[0-9.]+|share/perl/[0-9.]+)\z} } @INC
);
(my $name = $entry) =~ s{\A.*/}{};
eval { require $name; 1 } or fail('DependencyLoadFailure', $@);
frame(kind => 'ready');
my $call = decode(all_of(unpack 'N', all_of(4)));
eval {
    (my $name = $call->{operation}) =~ tr/-/_/;
    my $operation = Tool->can($name) or die "there is no Tool::$name\n";
    my $output = $operation->($call->{input}, $call->{context});
    my $type = $call->{media_type};
    die "an output of $type is bytes or text\n" if defined $type && (ref $output || !defined $output);
    frame(kind => 'result', defined $type ? (media_type => $type, base64 => base64($output)) : (output => $output));
    1;
} or fail('Failed', $@);
leave();
