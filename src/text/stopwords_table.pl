# Prints the Snowball stop-word lists, as the Lingua::StopWords package carries them, as a C table:
# one sorted, case-folded list a language, named by its ISO 639-1 code.
use strict;
use warnings;
use utf8;
use Lingua::StopWords qw(getStopWords);
binmode(STDOUT, ':utf8');

my @languages = qw(da de en es fi fr hu id it nl no pt ro ru sv);
print "#include \"text/language.h\"\n\n";
my @tables;
for my $language (@languages) {
    my $words = getStopWords($language, 'UTF-8') or die "no stop words for $language";
    my %seen;
    $seen{lc $_} = 1 for grep { length } keys %$words;
    my @list = sort keys %seen;
    s/(["\\])/\\$1/g for @list;
    print "static const char *const words_$language\[] = {\n";
    print "    \"$_\",\n" for @list;
    print "};\n\n";
    push @tables, "    {\"$language\", words_$language, " . scalar(@list) . "},\n";
}
print "const struct stopword_list stopword_lists[] = {\n", @tables, "};\n";
print "const unsigned stopword_list_count = ", scalar(@tables), ";\n";
