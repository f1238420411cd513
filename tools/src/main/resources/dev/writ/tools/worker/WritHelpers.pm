# What the platform gives to tools in Perl (spec/tool-package.md, Helpers): use WritHelpers.
package WritHelpers;
use strict;
use warnings;

our $VERSION = 1;

# The text of one of the tool's secrets.
sub secret {
    my ($context, $name) = @_;
    my $path = ($context->{secrets} // {})->{$name} // die "the tool declares no secret $name\n";
    open(my $file, '<:encoding(UTF-8)', $path) or die "secret $name: $!\n";
    local $/;
    return scalar <$file>;
}

# The path at which to write an artifact of this name.
sub artifact {
    my ($context, $name) = @_;
    my $folder = $context->{artifacts} // die "the tool declares no artifacts\n";
    die "no plain name of a file\n" if $name !~ /\A[A-Za-z0-9_][A-Za-z0-9._-]{0,127}\z/;
    return "$folder/$name";
}

# The path of the input file of this name.
sub input {
    my ($context, $name) = @_;
    for my $path (@{ $context->{inputs} }) {
        return $path if $path =~ m{/\Q$name\E\z};
    }
    die "the call has no input $name\n";
}

1;
