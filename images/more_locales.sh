#!/bin/sh
# Makes locales beside those that the system layer has. What cannot be made is left out: a cell proves what it has, and its
# values are said not to be provable otherwise.
recipe=/opt/paritygate/recipe
names=$recipe/more_locales.txt

if ! { command -v localedef && [ -d /usr/share/i18n/locales ]; } >/dev/null 2>&1; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends locales
    rm -rf /var/lib/apt/lists/*
fi
while read -r locale; do
    bare=${locale%@*}
    modifier=${locale#"$bare"}
    encoding=${bare#*.}
    localedef -i "${bare%%.*}$modifier" -f "$encoding" "$locale" ||
        echo "paritygate: the locale \`$locale\` cannot be made in this image"
done <$names
exit 0
